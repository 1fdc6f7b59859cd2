// The audit log: who did what to whom, newest first, by pages, narrowed by person, action and days.
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Link } from 'wouter';
import { get, query } from '../api/client';
import { useLive } from '../api/queries';
import type { Audit } from '../api/types';
import { audit as WORDS } from '../text/audit';
import { Person } from '../ui/Person';
import { Empty, Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import styles from './operate.module.css';

const PAGE = 50;
const ACTIONS = Object.keys(WORDS).filter((code) => code.startsWith('act.')).map((code) => code.slice(4));
const NONE = { user: '', action: '', from: '', to: '' };
type Entry = Audit['audit'][number];

/** The day after, since the last day that is asked for belongs to it. */
function next(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

export default function AuditPart() {
  const { t, language } = useWords();
  const [typed, setTyped] = useState('');
  const [filter, setFilter] = useState(NONE);
  const found = useInfiniteQuery({
    queryKey: ['audit', filter, language],
    queryFn: ({ pageParam }) => get<Audit>(query('v1/audit', {
      limit: PAGE, before: pageParam, user: filter.user, action: filter.action, from: filter.from, to: filter.to && next(filter.to),
    })),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
  });
  const rows = found.data?.pages.flatMap((page) => page.audit) ?? [];
  const narrowed = Object.values(filter).some(Boolean);
  const choose = (more: Partial<typeof NONE>) => setFilter({ ...filter, ...more });
  function ask(event: FormEvent) {
    event.preventDefault();
    choose({ user: typed.trim() });
  }
  const options = [{ value: '', label: t('audit.action_all') }, ...ACTIONS.map((each) => ({ value: each, label: t(`act.${each}` as Said) }))];
  return (
    <section className={ui.panel} data-part="audit">
      <form className={styles.filters} onSubmit={ask}>
        <TextInput size="xs" label={t('audit.person')} placeholder={t('audit.person_how')} value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)} onBlur={() => choose({ user: typed.trim() })} autoComplete="off" />
        <NativeSelect size="xs" label={t('audit.action')} value={filter.action} data={options}
          onChange={(event) => choose({ action: event.currentTarget.value })} />
        <TextInput size="xs" type="date" label={t('audit.from')} value={filter.from} onChange={(event) => choose({ from: event.currentTarget.value })} />
        <TextInput size="xs" type="date" label={t('audit.to')} value={filter.to} onChange={(event) => choose({ to: event.currentTarget.value })} />
        {narrowed && <Button size="xs" variant="default" onClick={() => { setTyped(''); setFilter(NONE); }}>{t('audit.clear')}</Button>}
      </form>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.data && rows.length === 0 && <Empty title={narrowed ? t('audit.none_like') : t('audit.none')} />}
      <ul className={styles.entries} aria-label={t('audit.label')}>
        {rows.map((row) => <Row key={row.id} row={row} />)}
      </ul>
      {found.hasNextPage
        ? <div className={styles.buttons}><Button size="xs" variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>{t('audit.older')}</Button></div>
        : rows.length > 0 && <p className={styles.note}>{t('audit.end')}</p>}
    </section>
  );
}

function Row({ row }: { row: Entry }) {
  const { t } = useWords();
  const said = ACTIONS.includes(row.action) ? t(`act.${row.action}` as Said) : row.action;
  const went = row.outcome === 'refused' || row.outcome === 'failed';
  const more = [row.outcome === 'done' ? '' : row.outcome, row.detail].filter(Boolean).join(' · ');
  return (
    <li className={styles.entry} data-entry={row.action}>
      <When at={row.time} />
      {row.user && row.uid !== null ? <Person user={row.user} /> : <span className={ui.quiet}>{row.user ? t('audit.roost') : t('audit.stranger')}</span>}
      <span className={went ? styles.refused : undefined}>
        {said}{' '}<Subject text={row.subject} />
        {row.whom && row.whom !== row.user && <small>{' '}{t('audit.whom', { user: row.whom })}</small>}
      </span>
      <small>
        {more}
        {row.origin && row.origin !== row.subject && !row.detail.endsWith(row.origin) && `${more ? ' · ' : ''}${t('audit.origin', { place: row.origin })}`}
      </small>
    </li>
  );
}

/** "job 12", "booking 3", "gpu UUID pid 77": what it was done to, as a link where there is a page. */
function Subject({ text }: { text: string }) {
  const { t } = useWords();
  const gpus = useLive('status').data?.gpus ?? [];
  const [kind = '', id = '', ...rest] = text.split(' ');
  if (kind === 'job' && /^\d+$/.test(id)) return <Link href={`/jobs/${id}`}>{t('word.job', { job: id })}</Link>;
  if (kind === 'booking' && /^\d+$/.test(id)) return <Link href={`/bookings/${id}`}>{t('audit.booking', { id })}</Link>;
  if (kind === 'session') return <>{t('audit.session', { id })}</>;
  if (kind === 'token') return <>{t('audit.token', { id })}</>;
  if (kind === 'version') return <>{t('audit.version', { id })}</>;
  const gpu = kind === 'gpu' ? gpus.find((each) => each.uuid === id) : undefined;
  if (gpu) return <><Link href={`/gpus/${gpu.index}`}>{t('word.gpu', { index: gpu.index })}</Link>{rest.length > 0 && ` ${rest.join(' ')}`}</>;
  return <>{text}</>;
}
