// Team: who used what in a period, how well the GPUs were used, how long people waited, and the week.
// Every chart has its numbers in a table; what nobody is known for and what nobody saw is told as such.
import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { get, query } from '../api/client';
import type { Team } from '../api/types';
import { useMe } from '../app/session';
import { dayOf, duration } from '../lib/time';
import { hours, percent, UNKNOWN } from '../lib/units';
import { Choice } from '../ui/Choice';
import { Person } from '../ui/Person';
import { Empty, Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords, type Said } from '../ui/words';
import { download, startOf, utilisation, type Period } from './figures';
import { Week } from './Week';
import styles from './team.module.css';

const Chart = lazy(() => import('../ui/Chart'));
const PERIODS = ['days_7', 'days_30', 'days_90', 'month'] as const satisfies readonly Period[];

export default function TeamView() {
  const { t } = useWords();
  const me = useMe();
  const [period, setPeriod] = useState<Period>('days_30');
  const from = startOf(period, dayOf(new Date(), me.timeZone));
  const found = useQuery({
    queryKey: ['team', from],
    queryFn: () => get<Team>(query('v1/team', { from })),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  const team = found.data;
  return (
    <>
      <header className={ui.head}>
        <h1>{t('team.title')}</h1>
        {team && <p>{summary(team, t)}</p>}
        <span className={ui.headEnd}>
          <Choice label={t('team.period')} value={period} onChange={setPeriod}
            options={PERIODS.map((each) => ({ value: each, label: t(`team.${each}`) }))} />
          {team && <Button size="xs" variant="default" onClick={() => download(team)}>{t('team.export')}</Button>}
        </span>
      </header>
      {found.isPending && <Loading />}
      {found.isError && !team && <Failed error={found.error} again={() => void found.refetch()} />}
      {team && <Figures team={team} />}
    </>
  );
}

type Say = ReturnType<typeof useWords>['t'];

function summary(team: Team, t: Say): string {
  const sum = (name: 'held_s' | 'busy_s') => team.people.reduce((total, each) => total + each[name], 0);
  return t('team.summary', { held: hours(sum('held_s')), busy: hours(sum('busy_s')), gpus: team.gpus });
}

function Figures({ team }: { team: Team }) {
  const { t } = useWords();
  // Hours before the first look ever are no gap: there was no Roost.
  const first = team.days.findIndex((day) => day.observed_s > 0 || day.held_s > 0);
  if (first < 0) return <Empty title={t('team.empty')}>{t('team.empty_more')}</Empty>;
  const missed = team.gaps.reduce((sum, gap) => sum + Number(gap['seconds']), 0) / 3600;
  return (
    <>
      {missed >= 0.1 && <p className={styles.gap}>{t('team.gap', { count: Math.max(1, Math.round(missed)) })}</p>}
      <div className={styles.grid}>
        <section className={ui.panel}><h2>{t('team.people')}</h2><People team={team} /></section>
        <div className={styles.column}>
          <section className={ui.panel}><h2>{t('team.groups')}</h2><Groups team={team} /></section>
          <section className={ui.panel}><h2>{t('team.waits')}</h2><Waits team={team} /></section>
        </div>
        <section className={`${ui.panel} ${styles.wide}`}><h2>{t('team.utilisation')}</h2><Days team={team} first={first} /></section>
        <section className={`${ui.panel} ${styles.wide}`}><h2>{t('team.week')}</h2><Week team={team} /></section>
      </div>
    </>
  );
}

function Bar({ part }: { part: number }) {
  return <span className={styles.bar} aria-hidden="true"><span style={{ width: `${Math.round(part * 100)}%` }} /></span>;
}

function People({ team }: { team: Team }) {
  const { t } = useWords();
  const most = Math.max(1, ...team.people.map((each) => each.held_s));
  return (
    <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('team.people')}>
      <table className={ui.table}>
        <thead><tr>
          <th>{t('team.person')}</th><th>{t('team.group')}</th><th className={ui.number}>{t('team.held')}</th>
          <th className={ui.number}>{t('team.busy')}</th><th className={ui.number}>{t('team.busy_part')}</th>
        </tr></thead>
        <tbody>{team.people.map((each) => (
          <tr key={`${each.user ?? ''} ${each.group ?? ''}`} data-user={each.user ?? ''}>
            <td>{each.user === null ? <Nobody /> : <Person user={each.user} />}<Bar part={each.held_s / most} /></td>
            <td>{each.group ?? UNKNOWN}</td>
            <td className={ui.number}>{hours(each.held_s)}</td>
            <td className={ui.number}>{hours(each.busy_s)}</td>
            <td className={ui.number}>{percent(each.user !== null && each.observed_s > 0 ? Math.min(100, (100 * each.busy_s) / each.observed_s) : null)}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

function Nobody() {
  const { t } = useWords();
  return <span className={ui.person}><span className={`${ui.mark} ${ui.hatched}`} aria-hidden="true" />{t('team.unattributed')}</span>;
}

function Groups({ team }: { team: Team }) {
  const { t } = useWords();
  const part = (value: number | null) => percent(value === null ? null : value * 100);
  return (
    <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('team.groups')}>
      <table className={ui.table}>
        <thead><tr>
          <th>{t('team.group')}</th><th className={ui.number}>{t('team.held')}</th>
          <th className={ui.number}>{t('team.part')}</th><th className={ui.number}>{t('team.due')}</th>
        </tr></thead>
        <tbody>{team.groups.map((each) => (
          <tr key={each.group}>
            <td>{each.group}<Bar part={each.part ?? 0} /></td>
            <td className={ui.number}>{hours(each.held_s)}</td>
            <td className={ui.number}>{part(each.part)}</td>
            <td className={ui.number}>{part(each.due)}</td>
          </tr>
        ))}</tbody>
      </table>
      <p className={styles.note}>{t('team.due_note')}</p>
    </div>
  );
}

function Waits({ team }: { team: Team }) {
  const { t, language } = useWords();
  const said = (value: number | null) => (value === null ? UNKNOWN : duration(value, language));
  if (team.waits_by_class.length === 0) return <p className={styles.note}>{t('team.waits_none')}</p>;
  const parts = [
    { head: t('team.class'), rows: team.waits_by_class.map((row) => ({ ...row, name: t(`class.${row.name}` as Said) })) },
    { head: t('team.group'), rows: team.waits_by_group },
  ];
  return (
    <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('team.waits')}>
      {parts.map(({ head, rows }) => (
        <table key={head} className={`${ui.table} ${styles.waits}`}>
          <thead><tr>
            <th>{head}</th><th className={ui.number}>{t('team.jobs')}</th>
            <th className={ui.number}>{t('team.median')}</th><th className={ui.number}>{t('team.p90')}</th>
          </tr></thead>
          <tbody>{rows.map((row) => (
            <tr key={row.name}>
              <td>{row.name}</td><td className={ui.number}>{row.jobs}</td>
              <td className={ui.number}>{said(row.median_s)}</td><td className={ui.number}>{said(row.p90_s)}</td>
            </tr>
          ))}</tbody>
        </table>
      ))}
      <p className={styles.note}>{t('team.waits_note')}</p>
    </div>
  );
}

function Days({ team, first }: { team: Team; first: number }) {
  const { t } = useWords();
  const me = useMe();
  const days = useMemo(() => team.days.slice(first), [team, first]);
  const [times, series] = useMemo(() => [
    // Noon of the day in UTC stands in the middle of it, near enough for a line over weeks.
    days.map((day) => Date.parse(`${day.day}T12:00:00Z`) / 1000),
    [{ values: days.map(utilisation), colour: '--accent', fill: '--accent-soft' }],
  ], [days]);
  return (
    <>
      <Suspense fallback={<div className={styles.chart} />}>
        <Chart times={times} series={series} height={180} most={100} unit="%" zone={me.timeZone} days label={t('team.utilisation_label')} />
      </Suspense>
      <details>
        <summary>{t('team.table')}</summary>
        <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('team.utilisation')}>
          <table className={ui.table}>
            <thead><tr>
              <th>{t('team.day')}</th><th className={ui.number}>{t('team.utilised')}</th><th className={ui.number}>{t('team.held')}</th>
              <th className={ui.number}>{t('team.busy')}</th><th className={ui.number}>{t('team.lost')}</th><th className={ui.number}>{t('team.gap_hours')}</th>
            </tr></thead>
            <tbody>{days.map((day) => (
              <tr key={day.day}>
                <td className={ui.nowrap}>{day.day}</td><td className={ui.number}>{percent(utilisation(day))}</td>
                <td className={ui.number}>{hours(day.held_s)}</td><td className={ui.number}>{day.observed_s > 0 ? hours(day.busy_s) : UNKNOWN}</td>
                <td className={ui.number}>{hours(day.lost_s)}</td><td className={ui.number}>{day.gap_hours}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      </details>
    </>
  );
}
