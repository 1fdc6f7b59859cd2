// The picture: a row a GPU, time to the right in true proportion (a day of 25 hours is longer than its
// neighbour). A drag across room is taken in steps of the rules' own clock, and asks for a booking; a
// booking that is dragged asks for another time (useGrab).
import { useEffect, useRef, useState, type PointerEvent as Pointer } from 'react';
import { useMe } from '../app/session';
import { model } from '../now/card';
import { useWords } from '../ui/words';
import { BarButton, FreeRoom } from './BarButton';
import type { Bar, Row } from './bars';
import type { Wish } from './CalendarView';
import styles from './calendar.module.css';
import type { Stays } from './shift';
import { useTimes } from './times';
import { useGrab, type Move } from './useGrab';
import { hourAt, hoursOf, HOUR, stepAt, type Span, type ViewName } from './zone';

interface Drag { first: number; last: number; from: number; at: number }

export function Timeline({ rows, span, view, now, wish, open, showDay, move, setMove, stays, how }: {
  rows: readonly Row[]; span: Span; view: ViewName; now: number;
  wish: (wish: Wish) => void; open: (bar: Bar) => void; showDay: (day: string) => void;
  move: Move | null; setMove: (move: Move | null) => void; stays: (why: Stays, bar: Bar) => void;
  /** The id of the words that say how a bar is moved. */
  how: string;
}) {
  const { t } = useWords();
  const { timeZone: zone } = useMe();
  const times = useTimes();
  const body = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const length = span.end - span.start;
  const left = (at: number) => `${((Math.min(Math.max(at, span.start), span.end) - span.start) / length) * 100}%`;
  const width = (start: number, end: number) =>
    `${(Math.max(0, Math.min(end, span.end) - Math.max(start, span.start)) / length) * 100}%`;

  const instantAt = (event: Pointer) => {
    const box = body.current?.querySelector('[data-track]')?.getBoundingClientRect();
    return box ? span.start + Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.999999) * length : span.start;
  };
  const rowAt = (event: Pointer): number | null => {
    const tracks = [...(body.current?.querySelectorAll('[data-track]') ?? [])];
    const place = tracks.findIndex((track) => {
      const box = track.getBoundingClientRect();
      return event.clientY >= box.top && event.clientY < box.bottom;
    });
    return place < 0 ? null : place;
  };
  const hands = useGrab({ rows, view, now, zone, move, put: setMove, stays, at: instantAt, rowAt });
  // A finger that holds a bar does not scroll the picture. Only a listener that may say no can tell.
  const held = hands.held;
  useEffect(() => {
    const box = body.current;
    const still = (event: TouchEvent) => { if (held()) event.preventDefault(); };
    box?.addEventListener('touchmove', still, { passive: false });
    return () => box?.removeEventListener('touchmove', still);
  }, [held]);
  useEffect(() => {
    if (!drag) return undefined;
    const escape = (event: KeyboardEvent) => { if (event.key === 'Escape') setDrag(null); };
    window.addEventListener('keydown', escape);
    return () => window.removeEventListener('keydown', escape);
  }, [drag]);

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
    const at = instantAt(event);
    if (stepAt(at, view, zone).end <= now) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ first: place, last: place, from: at, at });
  }
  const moved = (event: Pointer<HTMLElement>) => {
    if (drag) setDrag({ ...drag, at: instantAt(event), last: rowAt(event) ?? drag.last });
  };
  function up() {
    if (!drag) return;
    const asked = wished(drag);
    setDrag(null);
    // What begins within this step begins now.
    wish({ ...asked, start: Math.max(asked.start, Math.floor(now / 60_000) * 60_000) });
  }
  const ghost = drag ? wished(drag) : move?.place ?? null;
  const first = rows.findIndex((row) => (ghost?.gpus ?? []).includes(row.gpu.uuid));
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
                <BarButton key={bar.key} bar={bar} row={row.gpu.uuid} open={() => open(bar)} now={now} hands={hands} how={how}
                  away={move !== null && move.one.booking === bar.booking?.booking}
                  cut={{ start: bar.start < span.start, end: (bar.end ?? Infinity) > span.end }}
                  part={(Math.min(bar.end ?? Infinity, span.end) - Math.max(bar.start, span.start)) / length}
                  place={{
                    left: left(bar.start), width: width(bar.start, bar.end ?? Infinity),
                    top: `calc(${(bar.lane / bar.lanes) * 100}% + 2px)`, height: `calc(${100 / bar.lanes}% - 4px)`,
                  }} />
              ))}
              {ghost?.gpus.includes(row.gpu.uuid) && ghost.start < span.end && ghost.end > span.start && (
                <div className={styles.ghost} data-ghost={row.gpu.index} style={{ left: left(ghost.start), width: width(ghost.start, ghost.end) }}>
                  {place === first && times.between(ghost.start, ghost.end)}
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

/** By the keyboard: the first hour of the room, whose times the form lets change. */
function firstOf(room: { start: number; end: number }, row: Row): Wish {
  const start = Math.ceil(room.start / 60_000) * 60_000;
  return { start, end: Math.min(room.end, start + HOUR), gpus: [row.gpu.uuid] };
}

export function DayName({ day, short = false }: { day: string; short?: boolean }) {
  const { language } = useWords();
  const options: Intl.DateTimeFormatOptions = short ? { day: 'numeric' } : { weekday: 'short', day: 'numeric', month: 'short' };
  return <>{new Intl.DateTimeFormat(language === 'zh' && !short ? 'zh-CN' : 'en-GB', { ...options, timeZone: 'UTC' }).format(new Date(`${day}T12:00:00Z`))}</>;
}
