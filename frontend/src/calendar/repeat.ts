// Repetition as people choose it, and as a rule of RFC 5545 says it. The daemon makes the dates; here
// is only the rule's text. Must not know how it is asked for.
import { dayAt } from './zone';

export type Every = 'none' | 'daily' | 'weekdays' | 'weekly';
export type Ends = 'open' | 'until' | 'count';
/** `until`: the last day, "2026-12-24". */
export interface Repetition { every: Every; ends: Ends; until: string; count: number }

export const ONCE: Repetition = { every: 'none', ends: 'count', until: '', count: 4 };
const WORKDAYS = 'MO,TU,WE,TH,FR';

/** "FREQ=WEEKLY;COUNT=4"; '' for once, null where its end is not said yet. */
export function ruleOf({ every, ends, until, count }: Repetition): string | null {
  if (every === 'none') return '';
  const step = every === 'daily' ? 'FREQ=DAILY' : every === 'weekly' ? 'FREQ=WEEKLY' : `FREQ=WEEKLY;BYDAY=${WORKDAYS}`;
  if (ends === 'open') return step;
  if (ends === 'count') return Number.isInteger(count) && count > 0 ? `${step};COUNT=${count}` : null;
  return /^\d{4}-\d{2}-\d{2}$/.test(until) ? `${step};UNTIL=${until.replaceAll('-', '')}` : null;
}

/** What a rule says, where it is one of those that can be chosen; `until` as a day of the zone. */
export function ruleRead(rule: string, zone: string): { kind: Exclude<Every, 'none'>; until: string | null } | null {
  const parts = new Map(rule.split(';').filter(Boolean).map((part) => part.split('=', 2) as [string, string]));
  const until = parts.get('UNTIL');
  parts.delete('UNTIL');
  parts.delete('WKST');
  if (parts.get('INTERVAL') === '1') parts.delete('INTERVAL');
  const [freq, days] = [parts.get('FREQ'), parts.get('BYDAY')];
  parts.delete('FREQ');
  parts.delete('BYDAY');
  if (parts.size) return null;
  const kind = freq === 'DAILY' && !days ? 'daily' : freq !== 'WEEKLY' ? null : days === WORKDAYS ? 'weekdays' : !days ? 'weekly' : null;
  if (!kind) return null;
  const read = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(until ?? '');
  if (until !== undefined && !read) return null;
  if (!read) return { kind, until: null };
  const [, year, month, day, hour, minute, second, utc] = read;
  const date = `${year}-${month}-${day}`;
  return { kind, until: utc ? dayAt(Date.parse(`${date}T${hour}:${minute}:${second}Z`), zone) : date };
}
