// What a GPU's card says, from the status and the live jobs: who holds it, until when, whether it is
// free. The same reading as `roost status`. Knows no drawing and no language.
import type { Gpu, Holder, Job } from '../api/types';

type Booked = Gpu['bookings'][number];

export interface Holding {
  user: string | null;
  kind: Holder['kind'];
  job: number | null;
  booking: number | null;
  label: string;
  since: string | null;
  until: string | null;
  idle_s: number | null;
  memory_bytes: number | null;
  lawful: boolean | null;
  ignored: boolean;
}

export interface Card {
  gpu: Gpu;
  /** Takes new work now, and nobody who counts is on it. */
  free: boolean;
  /** Who has it booked now, where that is not told by a holder; and next. */
  booked: Booked | null;
  next: Booked | null;
  well: boolean;
  freeUntil: string | null;
  holdings: Holding[];
  mine: boolean;
  /** When the last of its jobs is over by walltime; null where one has none, or somebody else is there. */
  until: string | null;
}

export function isFree(gpu: Gpu): boolean {
  return gpu.health === 'ok' && !gpu.drained && !bookedNow(gpu) && gpu.holders.every((holder) => holder.ignored);
}

/** Who has the whole GPU booked for now, or its maintenance. */
export function bookedNow(gpu: Gpu): Booked | null {
  return gpu.bookings.find((one) => one.on && isWhole(one)) ?? null;
}

/** Who has it next. */
export function bookedNext(gpu: Gpu): Booked | null {
  return gpu.bookings.find((one) => !one.on && isWhole(one)) ?? null;
}

const isWhole = (one: Booked): boolean => one.maintenance || one.gpu_memory_bytes === null;

const later = (a: string | null, b: string | null): string | null =>
  a && b ? (Date.parse(a) >= Date.parse(b) ? a : b) : null;
const earlier = (a: string | null, b: string | null): string | null =>
  a && b ? (Date.parse(a) <= Date.parse(b) ? a : b) : (a ?? b);
const sum = (a: number | null, b: number | null): number | null => (a === null && b === null ? null : (a ?? 0) + (b ?? 0));
const least = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : Math.min(a, b));

/** Processes of one job, or of one person by the same way, are one holding. */
export function holdings(holders: readonly Holder[], jobs: ReadonlyMap<number, Job>): Holding[] {
  const found = new Map<string, Holding>();
  for (const holder of holders) {
    const key = holder.job !== null ? `job ${holder.job}` : `${holder.kind} ${holder.user} ${holder.ignored}`;
    const known = found.get(key);
    if (known) {
      known.since = earlier(known.since, holder.since);
      known.memory_bytes = sum(known.memory_bytes, holder.memory_bytes);
      known.idle_s = least(known.idle_s, holder.idle_s);
      if (known.lawful && holder.lawful === false) known.lawful = false;
      continue;
    }
    const job = holder.job === null ? undefined : jobs.get(holder.job);
    found.set(key, {
      user: holder.user,
      kind: holder.kind,
      job: holder.job,
      booking: holder.booking,
      label: job?.name ?? programOf(holder.command) ?? '',
      since: job?.start_time ?? holder.since,
      until: holder.until,
      idle_s: holder.idle_s,
      memory_bytes: holder.memory_bytes,
      lawful: holder.lawful,
      ignored: holder.ignored,
    });
  }
  return [...found.values()].sort((a, b) => Number(a.ignored) - Number(b.ignored) || (b.memory_bytes ?? 0) - (a.memory_bytes ?? 0));
}

function programOf(command: string | null): string | null {
  const words = command?.trim().split(/\s+/) ?? [];
  const first = words[0]?.split('/').at(-1) ?? null;
  const script = words.find((word) => /\.(py|sh|ipynb)$/.test(word));
  return script?.split('/').at(-1) ?? first;
}

export function cardOf(gpu: Gpu, jobs: ReadonlyMap<number, Job>, me: string): Card {
  const held = holdings(gpu.holders, jobs);
  const counted = held.filter((each) => !each.ignored);
  const first = counted[0];
  const now = bookedNow(gpu);
  return {
    gpu,
    free: isFree(gpu),
    well: gpu.health === 'ok',
    freeUntil: gpu.free_until,
    booked: now && counted.some((each) => each.booking === now.booking && each.kind === 'booking') ? null : now,
    next: bookedNext(gpu),
    holdings: held,
    mine: counted.some((each) => each.user === me),
    until: first ? counted.slice(1).reduce((at, each) => later(at, each.until), first.until) : null,
  };
}

/** The GPU that is free first by walltimes, of those that are held now. */
export function nextFree(cards: readonly Card[]): Card | null {
  const known = cards.filter((card) => !card.free && card.well && !card.gpu.drained && card.until);
  return known.sort((a, b) => Date.parse(a.until ?? '') - Date.parse(b.until ?? ''))[0] ?? null;
}

export interface Segment {
  user: string | null;
  kind: 'held' | 'reserved' | 'unattributed';
  share: number;
  bytes: number;
}

/** The memory bar: each person's part of the whole, largest first; what nobody is known to hold last. */
export function segments(gpu: Gpu): Segment[] {
  const total = gpu.memory_total_bytes;
  if (!total || gpu.memory_used_bytes === null) return [];
  const by = new Map<string, number>();
  let unattributed = 0;
  for (const holder of gpu.holders) {
    const bytes = holder.memory_bytes ?? 0;
    if (holder.user === null || holder.kind === 'unattributed') unattributed += bytes;
    else by.set(holder.user, (by.get(holder.user) ?? 0) + bytes);
  }
  const parts: Segment[] = [...by]
    .map(([user, bytes]) => ({ user, kind: 'held' as const, bytes, share: bytes / total }))
    .sort((a, b) => b.bytes - a.bytes);
  if (unattributed > 0) parts.push({ user: null, kind: 'unattributed', bytes: unattributed, share: unattributed / total });
  return parts.filter((part) => part.bytes > 0);
}

/** "A100 80GB" of "NVIDIA A100-SXM4-80GB": what people call the card. */
export function model(name: string): string {
  return name
    .replace(/^NVIDIA\s+/i, '')
    .replace(/^GeForce\s+/i, '')
    .replace(/-(SXM\d?|PCIE|PCIe|NVL|HBM\d?e?)/g, '')
    .replace(/[-_]+/g, ' ')
    .trim();
}

/** Points of a line over the last hour in a box of `width` × `height`; a gap begins a new line. */
export function lines(values: readonly (number | null)[], width: number, height: number, most = 100): string[] {
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const found: string[] = [];
  let current: string[] = [];
  values.forEach((value, place) => {
    if (value === null) {
      if (current.length) found.push(current.join(' '));
      current = [];
      return;
    }
    const y = height - (Math.min(Math.max(value, 0), most) / most) * height;
    current.push(`${(place * step).toFixed(1)},${y.toFixed(1)}`);
  });
  if (current.length) found.push(current.join(' '));
  return found;
}
