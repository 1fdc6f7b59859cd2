// Bookings taken hold of in the picture: by a pointer, by a finger that rests on one first (so that
// swiping still scrolls), by the arrow keys. What is let go elsewhere is asked for, never done.
import { useCallback, useEffect, useRef, type KeyboardEvent, type PointerEvent as Pointer } from 'react';
import type { Booking } from '../api/types';
import type { Bar, Row } from './bars';
import { edgeAt, nudged, onOther, placeOf, samePlace, shifted, stepsBetween, stretched, whyStays, type Grip, type Place, type Stays } from './shift';
import type { ViewName } from './zone';

/** A booking on its way: `row` is the GPU by whose bar it is held. `asked`: let go there. */
export interface Move { one: Booking; row: string; grip: Grip; place: Place; asked: boolean; keys: boolean }

const FAR_PX = 4;
const SHAKY_PX = 10;
const HOLD_MS = 400;

interface Grab { bar: Bar; row: string; grip: Grip; x: number; y: number; from: number; touch: boolean; live: boolean; timer: number }

export interface Hands {
  down: (event: Pointer<HTMLElement>, bar: Bar, row: string) => void;
  moved: (event: Pointer<HTMLElement>) => void;
  up: () => void;
  cancel: () => void;
  key: (event: KeyboardEvent, bar: Bar, row: string) => void;
  blur: () => void;
  /** Whether a finger holds one: it does not scroll then. */
  held: () => boolean;
  /** Whether the click that follows only ends a drag. */
  clicked: () => boolean;
}

export function useGrab({ rows, view, now, zone, move, put, stays, at, rowAt }: {
  rows: readonly Row[]; view: ViewName; now: number; zone: string;
  move: Move | null; put: (move: Move | null) => void; stays: (why: Stays, bar: Bar) => void;
  at: (event: Pointer) => number; rowAt: (event: Pointer) => number | null;
}): Hands {
  const grab = useRef<Grab | null>(null);
  const holding = useRef(false);
  const dragged = useRef(false);
  // What was last, also where letting go comes before the picture of it is drawn.
  const last = useRef(move);
  useEffect(() => { last.current = move; }, [move]);
  const setMove = useCallback((next: Move | null) => { last.current = next; put(next); }, [put]);
  const held = useCallback(() => holding.current, []);
  const end = () => {
    window.clearTimeout(grab.current?.timer);
    grab.current = null;
    holding.current = false;
  };
  // Escape leaves everything as it is, wherever the focus is.
  useEffect(() => {
    if (!move || move.asked) return undefined;
    const escape = (event: globalThis.KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      end();
      setMove(null);
    };
    window.addEventListener('keydown', escape);
    return () => window.removeEventListener('keydown', escape);
  }, [move, setMove]);

  function lift(held: Grab): void {
    const why = whyStays(held.bar, held.grip, now);
    if (why || !held.bar.booking) {
      if (why) stays(why, held.bar);
      end();
      dragged.current = true;
      return;
    }
    held.live = true;
    holding.current = held.touch;
    dragged.current = true;
    setMove({ one: held.bar.booking, row: held.row, grip: held.grip, place: placeOf(held.bar.booking), asked: false, keys: false });
  }

  function placed(event: Pointer, held: Grab, one: Booking): Place {
    const before = placeOf(one);
    const to = at(event);
    if (held.grip !== 'all') return stretched(before, held.grip, edgeAt(before[held.grip], held.from, to, view, zone), now);
    const place = rowAt(event);
    const gpus = one.gpu_memory_bytes !== null || place === null ? before.gpus : onOther(before.gpus, held.row, rows[place]?.gpu.uuid);
    return { ...shifted(before, stepsBetween(held.from, to, view, zone), now, zone), gpus };
  }

  return {
    held,
    down(event, bar, row) {
      dragged.current = false;
      if (event.button !== 0 || !event.isPrimary) return;
      const grip = ((event.target as HTMLElement).dataset['grip'] ?? 'all') as Grip;
      const touch = event.pointerType === 'touch';
      const held: Grab = { bar, row, grip, x: event.clientX, y: event.clientY, from: at(event), touch, live: false, timer: 0 };
      if (touch) held.timer = window.setTimeout(() => lift(held), HOLD_MS);
      else event.currentTarget.setPointerCapture(event.pointerId);
      grab.current = held;
    },
    moved(event) {
      const held = grab.current;
      if (!held) return;
      const far = Math.hypot(event.clientX - held.x, event.clientY - held.y);
      if (!held.live && held.touch) {
        if (far > SHAKY_PX) end();
        return;
      }
      if (!held.live && far > FAR_PX) lift(held);
      const one = held.bar.booking;
      if (!held.live || !one || !grab.current) return;
      setMove({ one, row: held.row, grip: held.grip, place: placed(event, held, one), asked: false, keys: false });
    },
    up() {
      const live = grab.current?.live;
      end();
      const at = last.current;
      if (live && at) setMove(samePlace(placeOf(at.one), at.place) ? null : { ...at, asked: true });
    },
    cancel() {
      if (grab.current?.live) setMove(null);
      end();
    },
    key(event, bar, row) {
      const held = move?.keys && move.one.booking === bar.booking?.booking && !move.asked ? move : null;
      if (event.key === 'Enter' && held) {
        event.preventDefault();
        setMove(samePlace(placeOf(held.one), held.place) ? null : { ...held, asked: true });
        return;
      }
      const arrow = /^Arrow(Left|Right|Up|Down)$/.exec(event.key)?.[1];
      if (!arrow || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const across = arrow === 'Left' || arrow === 'Right';
      const grip: Grip = across && event.shiftKey ? 'end' : 'all';
      const why = whyStays(bar, grip, now);
      if (why || !bar.booking) {
        if (why) stays(why, bar);
        return;
      }
      const from = held ?? { one: bar.booking, row, place: placeOf(bar.booking) };
      const place = across
        ? nudged(from.place, grip, arrow === 'Left' ? -1 : 1, view, now, zone)
        : { ...from.place, gpus: bar.booking.gpu_memory_bytes === null ? besides(from.place.gpus, from.row, arrow === 'Up' ? -1 : 1) : from.place.gpus };
      // By keys the bar stays where it was; which GPU it would be on is followed here.
      const on = place.gpus.find((uuid) => !from.place.gpus.includes(uuid)) ?? from.row;
      setMove({ one: bar.booking, row: on, grip, place, asked: false, keys: true });
    },
    blur() {
      if (last.current?.keys && !last.current.asked) setMove(null);
    },
    clicked() {
      const was = dragged.current;
      dragged.current = false;
      return was;
    },
  };

  /** On the next GPU in that direction which the booking has not. */
  function besides(gpus: readonly string[], from: string, step: number): readonly string[] {
    let place = rows.findIndex((row) => row.gpu.uuid === from) + step;
    while (rows[place] && gpus.includes(rows[place]?.gpu.uuid ?? '')) place += step;
    return onOther(gpus, from, rows[place]?.gpu.uuid);
  }
}
