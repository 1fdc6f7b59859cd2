// A booking as it is being written: what is sent, and the command that says the same.
import { quoted } from '../queue/draft';
import type { Booking } from '../api/types';
import { dayAt, hourAt, instantOf } from './zone';

export interface Draft {
  fromDay: string;
  fromHour: string;
  untilDay: string;
  untilHour: string;
  /** UUIDs of those chosen; none: so many as `count`, which the server chooses. */
  chosen: readonly string[];
  count: number;
  purpose: string;
  public: boolean;
  maintenance: boolean;
  wait: boolean;
  /** Of a share of a GPU: so many GiB of its memory. */
  memoryGib: number | null;
  /** Whose it is to be; '' one's own. */
  user: string;
}

/** Again and again: a rule of RFC 5545, local dates that are left out, and whether those without room are. */
export interface Series { rule: string; except: readonly string[]; skip: boolean }

/** Of a booking that is changed: GPUs as they are, another number, or these. */
export type Which = 'keep' | 'any' | 'these';
export interface Change {
  start?: string;
  end?: string;
  gpus?: number;
  chosen?: readonly string[];
  gpu_memory_bytes?: number;
  purpose?: string;
  public?: boolean;
}

export interface Body {
  start: string;
  end: string;
  gpus?: number;
  chosen?: string[];
  gpu_memory_bytes?: number;
  purpose: string;
  public: boolean;
  maintenance: boolean;
  wait: boolean;
  user?: string;
  repeat?: string;
  except?: readonly string[];
  skip?: boolean;
}

export function draftOf(start: number, end: number, chosen: readonly string[], zone: string): Draft {
  return {
    fromDay: dayAt(start, zone), fromHour: hourAt(start, zone), untilDay: dayAt(end, zone), untilHour: hourAt(end, zone),
    chosen, count: Math.max(1, chosen.length), purpose: '', public: false, maintenance: false, wait: false, memoryGib: null, user: '',
  };
}

export function draftOfBooking(one: Booking, zone: string): Draft {
  const draft = draftOf(Date.parse(one.start ?? ''), Date.parse(one.end ?? ''), one.gpus, zone);
  return {
    ...draft, count: one.wanted, purpose: one.purpose ?? '', public: one.public, maintenance: one.maintenance,
    memoryGib: one.gpu_memory_bytes === null ? null : Math.round(one.gpu_memory_bytes / 2 ** 30),
  };
}

/** What is to become of it, and nothing of what stays; null where the times are none. A field says minutes:
    what it does not change keeps its seconds. */
export function changeOf(one: Booking, draft: Draft, which: Which, zone: string): Change | null {
  const times = timesOf(draft, zone);
  if (!times) return null;
  const before = draftOfBooking(one, zone);
  const change: Change = {};
  const sooner = draft.fromDay !== before.fromDay || draft.fromHour !== before.fromHour;
  const longer = draft.untilDay !== before.untilDay || draft.untilHour !== before.untilHour;
  if (sooner) change.start = iso(times.start);
  // A start alone would move the end with it.
  if (sooner || longer) change.end = longer ? iso(times.end) : iso(Date.parse(one.end ?? ''));
  if (which === 'any' && draft.count !== one.wanted) change.gpus = draft.count;
  if (which === 'these' && !(draft.chosen.length === one.gpus.length && draft.chosen.every((uuid) => one.gpus.includes(uuid)))) change.chosen = draft.chosen;
  if (draft.memoryGib !== null && draft.memoryGib !== before.memoryGib) change.gpu_memory_bytes = draft.memoryGib * 2 ** 30;
  if (draft.purpose.trim() !== (one.purpose ?? '')) change.purpose = draft.purpose.trim();
  if (draft.public !== one.public) change.public = draft.public;
  return change;
}

/** The interval in instants; null where a field says none or it ends before it begins. */
export function timesOf(draft: Draft, zone: string): { start: number; end: number } | null {
  const start = instantOf(draft.fromDay, draft.fromHour, zone);
  const end = instantOf(draft.untilDay, draft.untilHour, zone);
  return start === null || end === null || end <= start ? null : { start, end };
}

const iso = (at: number): string => new Date(at).toISOString();

export function bodyOf(draft: Draft, zone: string, series: Series | null = null): Body | null {
  const times = timesOf(draft, zone);
  if (!times) return null;
  const what = draft.memoryGib === null
    ? { gpus: draft.chosen.length || draft.count, chosen: [...draft.chosen] }
    : { gpu_memory_bytes: draft.memoryGib * 2 ** 30 };
  return {
    start: iso(times.start), end: iso(times.end), ...what,
    purpose: draft.purpose.trim(), public: draft.public, maintenance: draft.maintenance, wait: draft.wait,
    ...(draft.user.trim() ? { user: draft.user.trim() } : {}),
    ...(series ? { repeat: series.rule, except: series.except, skip: series.skip } : {}),
  };
}

/** `indices`: of the chosen ones. */
export function typed(draft: Draft, indices: readonly number[], series: Series | null = null): string {
  const words = ['roost', 'book'];
  if (draft.memoryGib !== null) words.push('--gpu-mem', `${draft.memoryGib}G`);
  else if (indices.length) for (const index of indices) words.push('--gpu', String(index));
  else words.push('-g', String(draft.count));
  words.push('--from', `"${draft.fromDay} ${draft.fromHour}"`, '--until', `"${draft.untilDay} ${draft.untilHour}"`);
  if (series) {
    words.push('--repeat', quoted(series.rule));
    for (const day of series.except) words.push('--except', day);
    if (series.skip) words.push('--skip');
  }
  if (draft.user.trim()) words.push('--user', quoted(draft.user.trim()));
  if (draft.purpose.trim()) words.push('--purpose', quoted(draft.purpose.trim()));
  if (draft.public) words.push('--public');
  if (draft.maintenance) words.push('--maintenance');
  if (draft.wait) words.push('--wait');
  return words.join(' ');
}
