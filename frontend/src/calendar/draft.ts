// A booking as it is being written: what is sent, and the command that says the same.
import { quoted } from '../queue/draft';
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
}

export interface Body {
  start: string;
  end: string;
  gpus: number;
  chosen: string[];
  purpose: string;
  public: boolean;
  maintenance: boolean;
  wait: boolean;
}

export function draftOf(start: number, end: number, chosen: readonly string[], zone: string): Draft {
  return {
    fromDay: dayAt(start, zone), fromHour: hourAt(start, zone), untilDay: dayAt(end, zone), untilHour: hourAt(end, zone),
    chosen, count: Math.max(1, chosen.length), purpose: '', public: false, maintenance: false, wait: false,
  };
}

/** The interval in instants; null where a field says none or it ends before it begins. */
export function timesOf(draft: Draft, zone: string): { start: number; end: number } | null {
  const start = instantOf(draft.fromDay, draft.fromHour, zone);
  const end = instantOf(draft.untilDay, draft.untilHour, zone);
  return start === null || end === null || end <= start ? null : { start, end };
}

const iso = (at: number): string => new Date(at).toISOString();

export function bodyOf(draft: Draft, zone: string): Body | null {
  const times = timesOf(draft, zone);
  if (!times) return null;
  return {
    start: iso(times.start), end: iso(times.end), gpus: draft.chosen.length || draft.count, chosen: [...draft.chosen],
    purpose: draft.purpose.trim(), public: draft.public, maintenance: draft.maintenance, wait: draft.wait,
  };
}

/** `indices`: of the chosen ones. */
export function typed(draft: Draft, indices: readonly number[]): string {
  const words = ['roost', 'book'];
  if (indices.length) for (const index of indices) words.push('--gpu', String(index));
  else words.push('-g', String(draft.count));
  words.push('--from', `"${draft.fromDay} ${draft.fromHour}"`, '--until', `"${draft.untilDay} ${draft.untilHour}"`);
  if (draft.purpose.trim()) words.push('--purpose', quoted(draft.purpose.trim()));
  if (draft.public) words.push('--public');
  if (draft.maintenance) words.push('--maintenance');
  if (draft.wait) words.push('--wait');
  return words.join(' ');
}
