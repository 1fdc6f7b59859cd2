// What stands in a GPU's row: bookings, maintenance, jobs with the end that is forecast, use that nobody
// answers for; and the room between them. Must not know how it is drawn.
import type { Booking, Gpu, Job } from '../api/types';

export type Kind = 'booking' | 'maintenance' | 'job' | 'use';

export interface Bar {
  key: string;
  kind: Kind;
  user: string | null;
  start: number;
  /** null: nobody knows. */
  end: number | null;
  booking?: Booking;
  job?: Job;
  lane: number;
  lanes: number;
}

export interface Row { gpu: Gpu; bars: Bar[]; free: { start: number; end: number }[] }

const SHOWN = new Set(['booked', 'ended', 'no_show']);

/** A row for each GPU over [from, to). */
export function rowsOf(gpus: readonly Gpu[], bookings: readonly Booking[], jobs: readonly Job[], from: number, to: number, now: number): Row[] {
  return gpus.map((gpu) => {
    const bars = packed([...booked(gpu, bookings), ...running(gpu, jobs), ...used(gpu)]
      .filter((bar) => bar.start < to && (bar.end ?? Infinity) > from));
    return { gpu, bars, free: gpu.drained ? [] : room(bars, Math.max(from, now), to) };
  });
}

type Loose = Omit<Bar, 'lane' | 'lanes'>;

function booked(gpu: Gpu, bookings: readonly Booking[]): Loose[] {
  return bookings
    .filter((one) => one.start && one.end && SHOWN.has(one.state) && one.gpus.includes(gpu.uuid))
    .map((one) => ({
      key: `b${one.booking}`, kind: one.maintenance ? 'maintenance' : 'booking', user: one.user,
      start: Date.parse(one.start ?? ''), end: Date.parse(one.end ?? ''), booking: one,
    }));
}

function running(gpu: Gpu, jobs: readonly Job[]): Loose[] {
  return jobs
    .filter((job) => job.start_time && !job.end_time && job.gpus.includes(gpu.uuid))
    .map((job) => ({
      key: `j${job.job}`, kind: 'job', user: job.user, start: Date.parse(job.start_time ?? ''),
      end: job.latest_end ? Date.parse(job.latest_end) : null, job,
    }));
}

function used(gpu: Gpu): Loose[] {
  const people = new Map<string | null, number>();
  for (const holder of gpu.holders) {
    if (holder.job !== null || holder.booking !== null || holder.ignored || !holder.since) continue;
    const user = holder.kind === 'unattributed' ? null : holder.user;
    people.set(user, Math.min(people.get(user) ?? Infinity, Date.parse(holder.since)));
  }
  return [...people].map(([user, start]) => ({ key: `u${user ?? ''}`, kind: 'use', user, start, end: null }));
}

/** What overlaps shares the row's height. */
function packed(loose: Loose[]): Bar[] {
  const sorted = [...loose].sort((one, other) => one.start - other.start || one.key.localeCompare(other.key));
  const done: Bar[] = [];
  let cluster: Bar[] = [];
  let ends: number[] = [];
  const close = () => {
    for (const bar of cluster) bar.lanes = ends.length;
    done.push(...cluster);
    cluster = [];
    ends = [];
  };
  for (const each of sorted) {
    if (cluster.length && ends.every((end) => end <= each.start)) close();
    let lane = ends.findIndex((end) => end <= each.start);
    if (lane < 0) lane = ends.length;
    ends[lane] = each.end ?? Infinity;
    cluster.push({ ...each, lane, lanes: 1 });
  }
  close();
  return done;
}

function room(bars: readonly Bar[], from: number, to: number): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let at = from;
  for (const bar of [...bars].sort((one, other) => one.start - other.start)) {
    if (bar.start > at) found.push({ start: at, end: Math.min(bar.start, to) });
    at = Math.max(at, bar.end ?? Infinity);
  }
  if (at < to) found.push({ start: at, end: to });
  return found.filter((each) => each.end > each.start);
}
