// A booking moved in time or to another GPU, made longer or shorter: in steps of the wall's clock, so that
// 9:00 stays 9:00 where the clocks change in between. Must not know pointers, keys or how it is drawn.
import type { Bar } from './bars';
import { instant, STEP, stepAt, wall, type ViewName } from './zone';

/** What of a bar is held: all of it, or one of its edges. */
export type Grip = 'all' | 'start' | 'end';
export interface Place { start: number; end: number; gpus: readonly string[] }
export type Stays = 'move.job' | 'move.use' | 'move.over' | 'move.maintenance' | 'move.others' | 'move.begun';

const MINUTE = 60_000;

export const placeOf = (one: { start: string | null; end: string | null; gpus: readonly string[] }): Place =>
  ({ start: Date.parse(one.start ?? ''), end: Date.parse(one.end ?? ''), gpus: one.gpus });

/** Why a bar cannot be moved by that grip; null where it can. */
export function whyStays(bar: Pick<Bar, 'kind' | 'booking'>, grip: Grip, now: number): Stays | null {
  const one = bar.booking;
  if (!one) return bar.kind === 'job' ? 'move.job' : 'move.use';
  const { start, end } = placeOf(one);
  if (one.state !== 'booked' || end <= now) return 'move.over';
  if (!one.may_change) return one.maintenance ? 'move.maintenance' : 'move.others';
  return grip !== 'end' && start <= now ? 'move.begun' : null;
}

/** From one instant to another in whole steps, as the clock on the wall counts them (milliseconds). */
export function stepsBetween(from: number, to: number, view: ViewName, zone: string): number {
  return Math.round((wall(to, zone) - wall(from, zone)) / STEP[view]) * STEP[view];
}

/** So much later on the wall. */
const later = (at: number, by: number, zone: string): number => (by === 0 ? at : instant(wall(at, zone) + by, zone));

/** The whole booking, as long as it is; never into the past. */
export function shifted(place: Place, by: number, now: number, zone: string): Place {
  const start = Math.max(later(place.start, by, zone), Math.floor(now / MINUTE) * MINUTE);
  return { ...place, start, end: start + place.end - place.start };
}

/** One edge at an instant; the other stays, and a minute stays between them. */
export function stretched(place: Place, grip: 'start' | 'end', to: number, now: number): Place {
  if (grip === 'end') {
    const least = Math.ceil((Math.max(place.start, now) + MINUTE) / MINUTE) * MINUTE;
    return { ...place, end: Math.max(to, least) };
  }
  return { ...place, start: Math.min(Math.max(to, Math.floor(now / MINUTE) * MINUTE), place.end - MINUTE) };
}

/** Where an edge comes to lie when it is dragged to an instant: on the nearest line of the picture; in
    the month on that day, at the hour that it has. */
export function edgeAt(edge: number, from: number, to: number, view: ViewName, zone: string): number {
  if (view === 'month') return later(edge, stepsBetween(from, to, view, zone), zone);
  const wished = edge + to - from;
  const { start, end } = stepAt(wished, view, zone);
  return wished - start < end - wished ? start : end;
}

/** By keys: so many steps. */
export function nudged(place: Place, grip: Grip, count: number, view: ViewName, now: number, zone: string): Place {
  const by = count * STEP[view];
  return grip === 'all' ? shifted(place, by, now, zone) : stretched(place, grip, later(place[grip], by, zone), now);
}

/** The part on one GPU goes to another, where the booking has that one not yet. */
export function onOther(gpus: readonly string[], from: string, to: string | undefined): readonly string[] {
  return to === undefined || gpus.includes(to) ? gpus : gpus.map((uuid) => (uuid === from ? to : uuid));
}

export const samePlace = (one: Place, other: Place): boolean =>
  one.start === other.start && one.end === other.end && sameGpus(one.gpus, other.gpus);

export const sameGpus = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((uuid) => other.includes(uuid));

export interface Asked { start: string; end: string; chosen?: readonly string[] }

/** What is asked of the daemon: the times, and the GPUs only where others are meant, so that it may choose
    where it chose before. Of a share of a GPU only the time is changed. */
export function askedOf(before: Place, place: Place, share: boolean): Asked {
  const times = { start: new Date(place.start).toISOString(), end: new Date(place.end).toISOString() };
  return share || sameGpus(before.gpus, place.gpus) ? times : { ...times, chosen: place.gpus };
}

