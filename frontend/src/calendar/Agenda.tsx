// The calendar on a phone: the days below each other, of each what is booked or runs, and what is free.
import { Person } from '../ui/Person';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Bar, Row } from './bars';
import type { Wish } from './CalendarView';
import styles from './calendar.module.css';
import { useTimes } from './times';
import { DayName } from './Timeline';
import { HOUR, type Day, type Span } from './zone';

export function Agenda({ rows, span, now, open, wish }: {
  rows: readonly Row[]; span: Span; now: number; open: (booking: number) => void; wish: (wish: Wish) => void;
}) {
  return (
    <>
      {span.days.filter((day) => day.end > now || span.end <= now).map((day) => (
        <OneDay key={day.day} day={day} rows={rows} now={now} open={open} wish={wish} />
      ))}
    </>
  );
}

function OneDay({ day, rows, now, open, wish }: {
  day: Day; rows: readonly Row[]; now: number; open: (booking: number) => void; wish: (wish: Wish) => void;
}) {
  const { t } = useWords();
  const times = useTimes();
  const from = Math.max(day.start, now);
  const free = rows.filter((row) => row.free.some((each) => each.start <= from && each.end >= day.end));
  return (
    <section className={ui.section} data-day={day.day}>
      <h2><DayName day={day.day} /></h2>
      <ul className={styles.list}>
        {day.end > now && (
          <li>
            <button type="button" className={`${styles.item} ${free.length ? styles.itemFree : ''}`} disabled={!free.length}
              onClick={() => wish({ start: Math.ceil(from / 60_000) * 60_000, end: Math.min(day.end, Math.ceil(from / HOUR) * HOUR + HOUR), gpus: [] })}>
              {free.length ? t('cal.day_free', { gpus: free.map((row) => row.gpu.index).join(', ') }) : t('cal.day_full')}
            </button>
          </li>
        )}
        {barsOf(day, rows).map(({ bar, indices }) => (
          <li key={bar.key}>
            <button type="button" className={styles.item} disabled={!bar.booking} onClick={() => { if (bar.booking) open(bar.booking.booking); }}>
              {bar.kind === 'maintenance' ? <b>{t('cal.maintenance')}</b> : <Person user={bar.user} />}
              <span>{t('word.gpu', { index: indices.join(', ') })}</span>
              <span>{bar.end === null ? t('word.since', { time: times.range(bar.start, bar.start).start }) : times.between(bar.start, bar.end)}</span>
              {bar.job && <span className={ui.quiet}>{t('cal.job', { job: bar.job.job })}</span>}
              {bar.booking?.purpose && <span className={ui.quiet}>{bar.booking.purpose}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** One line for each booking or job of the day, with all of its GPUs. */
function barsOf(day: Day, rows: readonly Row[]): { bar: Bar; indices: number[] }[] {
  const found = new Map<string, { bar: Bar; indices: number[] }>();
  for (const row of rows) {
    for (const bar of row.bars) {
      if (bar.start >= day.end || (bar.end ?? Infinity) <= day.start) continue;
      const known = found.get(bar.key);
      if (known) known.indices.push(row.gpu.index);
      else found.set(bar.key, { bar, indices: [row.gpu.index] });
    }
  }
  return [...found.values()].sort((one, other) => one.bar.start - other.bar.start);
}
