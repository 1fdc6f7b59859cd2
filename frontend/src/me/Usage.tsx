// What I have used: this month, which a bill will be made of, and the last seven days, by class.
import { useMemo } from 'react';
import { useUsage } from '../api/queries';
import { useMe } from '../app/session';
import { dayOf } from '../lib/time';
import { hours, kilowattHours, percent } from '../lib/units';
import { useNow } from '../ui/now';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords, type Said } from '../ui/words';
import { busyPercent, byClass, sum } from './sums';
import styles from './me.module.css';

const WEEK_MS = 7 * 86_400_000;

export function Usage({ user }: { user: string }) {
  const { t } = useWords();
  const { timeZone } = useMe();
  const now = useNow();
  const month = `${dayOf(now, timeZone).slice(0, 7)}-01`;
  const week = dayOf(new Date(now.getTime() - WEEK_MS), timeZone);
  const from = month < week ? month : week;
  const usage = useUsage(`${from}T00:00`, user);
  const rows = usage.data?.usage;
  const parts = useMemo(() => {
    const inZone = (hour: string) => dayOf(new Date(hour), timeZone);
    const mine = rows ?? [];
    return { month: mine.filter((row) => inZone(row.hour) >= month), week: mine.filter((row) => inZone(row.hour) >= week) };
  }, [rows, month, week, timeZone]);
  if (usage.isPending) return <Loading />;
  if (!usage.data) return <Failed error={usage.error} again={() => void usage.refetch()} />;
  const [billed, lately] = [sum(parts.month), sum(parts.week)];
  const classes = byClass(parts.month).map(([name, held]) =>
    `${name ? t(`class.${name}` as Said) : t('me.no_job')} ${hours(held)}`).join(' · ');
  return (
    <section className={ui.panel}>
      <h2>{t('me.usage')}</h2>
      <dl className={styles.figures}>
        <div><dt>{t('me.month')}</dt><dd data-figure="month">{t('me.hours', { hours: hours(billed.held) })}<small>{classes || t('me.nothing')}</small></dd></div>
        <div><dt>{t('me.week')}</dt><dd>{t('me.hours', { hours: hours(lately.held) })}</dd></div>
        <div><dt>{t('me.busy')}</dt><dd>{percent(busyPercent(billed))}<small>{t('me.busy_how')}</small></dd></div>
        <div><dt>{t('me.energy')}</dt><dd>{t('me.kwh', { energy: kilowattHours(billed.joules) })}</dd></div>
      </dl>
      <p className={styles.note}>{t('me.no_prices')}</p>
    </section>
  );
}
