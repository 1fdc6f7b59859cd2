// What lies in a row and can be hit: free room, and bars of bookings, jobs and use.
import { colourOf } from '../lib/colour';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Bar } from './bars';
import styles from './calendar.module.css';
import { whyStays } from './shift';
import { useTimes } from './times';
import type { Hands } from './useGrab';

const KINDS: Readonly<Record<Bar['kind'], string | undefined>> = {
  booking: '', job: styles.barJob, use: styles.barUse, maintenance: styles.barMaintenance,
};

/** 24 px of the narrowest picture, and what has room for two edges beside its middle. */
const NARROW = 0.033;
const EDGED = 0.05;

/** Room of this part of the span. What is too narrow to be hit is a picture only: a drag and the form still take it. */
export function FreeRoom({ style, part, index, label, take }: {
  style: React.CSSProperties; part: number; index: number; label: string; take: () => void;
}) {
  const { t } = useWords();
  if (part < NARROW) return <div className={styles.free} style={style} title={label} />;
  return (
    <button type="button" className={styles.free} data-free={index} style={style} aria-label={label}
      onClick={(event) => { if (event.detail === 0 || (event.nativeEvent as PointerEvent).pointerType === 'touch') take(); }}>
      {part > 0.07 && t('cal.free')}
    </button>
  );
}

export function BarButton({ bar, row, part, cut, now, open, place, hands, away, how }: {
  bar: Bar; row: string; part: number; cut: { start: boolean; end: boolean }; now: number; open: () => void;
  place: React.CSSProperties; hands: Hands; away: boolean; how: string;
}) {
  const { t } = useWords();
  const said = useBarWords()(bar);
  const colour = bar.kind === 'maintenance' ? undefined : bar.user ? colourOf(bar.user) : undefined;
  const words = bar.kind === 'maintenance' ? t('cal.maintenance') : bar.user ?? t('word.nobody');
  const more = bar.job ? t('cal.job', { job: bar.job.job }) : bar.booking?.purpose;
  const styled = `${styles.bar} ${KINDS[bar.kind] ?? ''} ${bar.user || bar.kind === 'maintenance' ? '' : styles.unknown} ${bar.end === null ? styles.open : ''} ${away ? styles.away : ''}`;
  const inside = <span className={styles.barText}><b>{words}</b>{more && ` ${more}`}</span>;
  const held = {
    'data-bar': bar.key,
    title: said,
    onPointerDown: (event: React.PointerEvent<HTMLElement>) => hands.down(event, bar, row),
    onPointerMove: hands.moved,
    onPointerUp: hands.up,
    onPointerCancel: hands.cancel,
    onContextMenu: (event: React.MouseEvent) => { if (hands.held()) event.preventDefault(); },
    // A key's click (detail 0) ends no drag.
    onClick: (event: React.MouseEvent) => { if (!hands.clicked() || event.detail === 0) open(); },
  };
  const style = { ...place, ...(colour ? (bar.kind === 'booking' ? { backgroundColor: colour } : { borderColor: colour }) : {}) };
  if (bar.kind === 'use') return <div {...held} className={styled} style={style} onClick={undefined}>{inside}</div>;
  // Too narrow for a finger, and for a place in the keyboard's round: the day's own view has it in full.
  if (part < NARROW) return <div {...held} className={styled} role="img" aria-label={said} style={{ ...style, padding: 0 }}>{inside}</div>;
  const movable = whyStays(bar, 'end', now) === null;
  return (
    <button type="button" {...held} className={`${styled} ${movable && part > EDGED ? styles.edged : ''}`} style={style} aria-describedby={movable ? how : undefined}
      onKeyDown={(event) => hands.key(event, bar, row)} onBlur={hands.blur}>
      {inside}
      <span className={ui.hidden}>{said}</span>
      {movable && part > EDGED && !cut.start && whyStays(bar, 'start', now) === null && <i className={styles.gripStart} data-grip="start" />}
      {movable && part > EDGED && !cut.end && <i className={styles.gripEnd} data-grip="end" />}
    </button>
  );
}

export function useBarWords(): (bar: Bar) => string {
  const { t } = useWords();
  const times = useTimes();
  return (bar) => {
    const user = bar.user ?? t('word.nobody');
    const { start, end } = times.range(bar.start, bar.end ?? bar.start);
    if (bar.booking) {
      const said = t(bar.kind === 'maintenance' ? 'cal.bar_maintenance' : 'cal.bar_booking', { number: bar.booking.booking, user, start, end });
      return bar.booking.purpose ? `${said}: ${bar.booking.purpose}` : said;
    }
    if (bar.job) return t(bar.end === null ? 'cal.bar_job_open' : 'cal.bar_job', { number: bar.job.job, user, start, end });
    return t('cal.bar_use', { user, start });
  };
}
