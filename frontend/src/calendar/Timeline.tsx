// The picture: a row a GPU, time to the right in true proportion (a day of 25 hours is longer than its
// neighbour). A drag across room is taken in steps of the rules' own clock, and asks for a booking.
import { useRef, useState, type PointerEvent as Pointer } from 'react';
import { useMe } from '../app/session';
import { colourOf } from '../lib/colour';
import { model } from '../now/card';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Bar, Row } from './bars';
import type { Wish } from './CalendarView';
import styles from './calendar.module.css';
import { useTimes } from './times';
import { hourAt, hoursOf, HOUR, stepAt, type Span, type ViewName } from './zone';

const KINDS: Readonly<Record<Bar['kind'], string | undefined>> = {
  booking: '', job: styles.barJob, use: styles.barUse, maintenance: styles.barMaintenance,
};

/** 24 px of the narrowest picture. */
const NARROW = 0.033;

interface Drag { first: number; last: number; from: number; at: number }

export function Timeline({ rows, span, view, now, wish, open, showDay }: {
  rows: readonly Row[]; span: Span; view: ViewName; now: number;
  wish: (wish: Wish) => void; open: (bar: Bar) => void; showDay: (day: string) => void;
}) {
  const { t } = useWords();
  const { timeZone: zone } = useMe();
  const times = useTimes();
  const body = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const length = span.end - span.start;
  const left = (at: number) => `${((Math.min(Math.max(at, span.start), span.end) - span.start) / length) * 100}%`;
  const width = (start: number, end: number) =>
    `${((Math.min(end, span.end) - Math.max(start, span.start)) / length) * 100}%`;

  const instantAt = (event: Pointer, track: Element) => {
    const box = track.getBoundingClientRect();
    return span.start + Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.999999) * length;
  };
  const rowAt = (event: Pointer): number | null => {
    const tracks = [...(body.current?.querySelectorAll('[data-track]') ?? [])];
    const place = tracks.findIndex((track) => {
      const box = track.getBoundingClientRect();
      return event.clientY >= box.top && event.clientY < box.bottom;
    });
    return place < 0 ? null : place;
  };
  const wished = (of: Drag): Wish => {
    const one = stepAt(of.from, view, zone);
    const other = stepAt(of.at, view, zone);
    const [low, high] = [Math.min(of.first, of.last), Math.max(of.first, of.last)];
    return {
      start: Math.min(one.start, other.start), end: Math.max(one.end, other.end),
      gpus: rows.slice(low, high + 1).map((row) => row.gpu.uuid),
    };
  };
  function down(event: Pointer<HTMLElement>, place: number) {
    if (event.button !== 0 || event.pointerType === 'touch' || (event.target as Element).closest('[data-bar]')) return;
    const track = event.currentTarget;
    const at = instantAt(event, track);
    if (stepAt(at, view, zone).end <= now) return;
    track.setPointerCapture(event.pointerId);
    setDrag({ first: place, last: place, from: at, at });
  }
  const moved = (event: Pointer<HTMLElement>) => {
    if (drag) setDrag({ ...drag, at: instantAt(event, event.currentTarget), last: rowAt(event) ?? drag.last });
  };
  function up() {
    if (!drag) return;
    const asked = wished(drag);
    setDrag(null);
    // What begins within this step begins now.
    wish({ ...asked, start: Math.max(asked.start, Math.floor(now / 60_000) * 60_000) });
  }
  const ghost = drag ? wished(drag) : null;
  const every = view === 'day' ? 1 : 6;
  const marks = view === 'month' ? [] : span.days.flatMap((each) => hoursOf(each, every, zone));
  return (
    <div className={styles.picture} tabIndex={0} role="region" aria-label={t('nav.calendar')}>
      <div className={`${styles.grid} ${styles[view]}`} ref={body}>
        <div className={styles.headRow}>
          <div className={styles.corner} />
          <div className={styles.scale}>
            {view === 'day'
              ? marks.map((at) => <span key={at} className={styles.hour} style={{ left: left(at), width: width(at, at + HOUR) }}>{hourAt(at, zone)}</span>)
              : span.days.map((each) => (
                <button type="button" key={each.day} className={`${styles.dayHead} ${each.start <= now && now < each.end ? styles.today : ''}`}
                  style={{ left: left(each.start), width: width(each.start, each.end) }} onClick={() => showDay(each.day)}>
                  <DayName day={each.day} short={view === 'month'} />
                </button>
              ))}
          </div>
        </div>
        {rows.map((row, place) => (
          <div key={row.gpu.uuid} className={styles.row} role="group" data-row={row.gpu.index}
            aria-label={`${t('word.gpu', { index: row.gpu.index })} ${model(row.gpu.name)}`}>
            <div className={styles.rowHead}>
              <b>{row.gpu.index}</b>
              <span>{row.gpu.drained ? t('cal.drained') : model(row.gpu.name)}</span>
            </div>
            <div className={styles.track} data-track={row.gpu.uuid} onPointerDown={(event) => down(event, place)}
              onPointerMove={moved} onPointerUp={up} onPointerCancel={() => setDrag(null)}>
              {marks.map((at) => <i key={at} className={styles.mark} style={{ left: left(at) }} />)}
              {span.days.map((each) => <i key={each.day} className={styles.dayMark} style={{ left: left(each.start) }} />)}
              {now > span.start && <i className={styles.past} style={{ left: 0, width: left(now) }} />}
              {row.free.map((each) => (
                <FreeRoom key={each.start} style={{ left: left(each.start), width: width(each.start, each.end) }}
                  part={(each.end - each.start) / length} index={row.gpu.index}
                  label={t('cal.take', { index: row.gpu.index, ...times.range(each.start, each.end) })} take={() => wish(firstOf(each, row))} />
              ))}
              {row.bars.map((bar) => (
                <BarButton key={bar.key} bar={bar} open={() => open(bar)}
                  part={(Math.min(bar.end ?? Infinity, span.end) - Math.max(bar.start, span.start)) / length}
                  place={{
                    left: left(bar.start), width: width(bar.start, bar.end ?? Infinity),
                    top: `calc(${(bar.lane / bar.lanes) * 100}% + 2px)`, height: `calc(${100 / bar.lanes}% - 4px)`,
                  }} />
              ))}
              {ghost?.gpus.includes(row.gpu.uuid) && (
                <div className={styles.ghost} style={{ left: left(ghost.start), width: width(ghost.start, ghost.end) }}>
                  {place === Math.min(drag?.first ?? 0, drag?.last ?? 0) && times.between(ghost.start, ghost.end)}
                </div>
              )}
              {now >= span.start && now < span.end && <i className={styles.now} style={{ left: left(now) }} />}
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}

/** Room of this part of the span. What is too narrow to be hit is a picture only: a drag and the form still take it. */
function FreeRoom({ style, part, index, label, take }: {
  style: React.CSSProperties; part: number; index: number; label: string; take: () => void;
}) {
  const { t } = useWords();
  if (part < NARROW) return <div className={styles.free} style={style} title={label} />;
  return (
    <button type="button" className={styles.free} data-free={index} style={style} aria-label={label}
      onClick={(event) => { if (event.detail === 0) take(); }}>
      {part > 0.07 && t('cal.free')}
    </button>
  );
}

/** By the keyboard: the first hour of the room, whose times the form lets change. */
function firstOf(room: { start: number; end: number }, row: Row): Wish {
  const start = Math.ceil(room.start / 60_000) * 60_000;
  return { start, end: Math.min(room.end, start + HOUR), gpus: [row.gpu.uuid] };
}

function BarButton({ bar, part, open, place }: { bar: Bar; part: number; open: () => void; place: React.CSSProperties }) {
  const { t } = useWords();
  const said = useBarWords()(bar);
  const colour = bar.kind === 'maintenance' ? undefined : bar.user ? colourOf(bar.user) : undefined;
  const words = bar.kind === 'maintenance' ? t('cal.maintenance') : bar.user ?? t('word.nobody');
  const more = bar.job ? t('cal.job', { job: bar.job.job }) : bar.booking?.purpose;
  const styled = `${styles.bar} ${KINDS[bar.kind] ?? ''} ${bar.user || bar.kind === 'maintenance' ? '' : styles.unknown} ${bar.end === null ? styles.open : ''}`;
  const inside = <span className={styles.barText}><b>{words}</b>{more && ` ${more}`}</span>;
  if (bar.kind === 'use') {
    return <div className={styled} data-bar={bar.key} style={{ ...place, ...(colour ? { borderColor: colour } : {}) }} title={said}>{inside}</div>;
  }
  const style = { ...place, ...(colour ? (bar.kind === 'booking' ? { backgroundColor: colour } : { borderColor: colour }) : {}) };
  // Too narrow for a finger, and for a place in the keyboard's round: the day's own view has it in full.
  if (part < NARROW) return <div className={styled} data-bar={bar.key} role="img" aria-label={said} title={said} style={{ ...style, padding: 0 }} onClick={open}>{inside}</div>;
  return (
    <button type="button" className={styled} data-bar={bar.key} title={said} onClick={open} style={style}>
      {inside}
      <span className={ui.hidden}>{said}</span>
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

export function DayName({ day, short = false }: { day: string; short?: boolean }) {
  const { language } = useWords();
  const options: Intl.DateTimeFormatOptions = short ? { day: 'numeric' } : { weekday: 'short', day: 'numeric', month: 'short' };
  return <>{new Intl.DateTimeFormat(language === 'zh' && !short ? 'zh-CN' : 'en-GB', { ...options, timeZone: 'UTC' }).format(new Date(`${day}T12:00:00Z`))}</>;
}
