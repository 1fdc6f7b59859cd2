// What the Team view works out by itself: where a period starts, parts of what was looked at, the CSV.
import type { Team } from '../api/types';

export type Period = 'days_7' | 'days_30' | 'days_90' | 'month';
type Seen = { held_s: number; busy_s: number; observed_s: number };

/** The first day of the period that ends today, "2026-12-02"; the daemon reads it in the rules' zone. */
export function startOf(period: Period, today: string): string {
  if (period === 'month') return `${today.slice(0, 8)}01`;
  const back = Number(period.slice(5)) - 1;
  return new Date(Date.parse(`${today}T00:00:00Z`) - back * 86_400_000).toISOString().slice(0, 10);
}

/** Percent busy of the GPU time that was looked at; null where nobody looked. */
export const utilisation = (seen: Seen): number | null =>
  seen.observed_s > 0 ? Math.min(100, (100 * seen.busy_s) / seen.observed_s) : null;

/** Part of the looked-at GPU time that was held, 0 to 1; null where nobody looked. */
export const heldPart = (seen: { held_seen_s: number; observed_s: number }): number | null =>
  seen.observed_s > 0 ? Math.min(1, seen.held_seen_s / seen.observed_s) : null;

/** A cell as CSV has it; what a spreadsheet would take for a formula is kept text. */
export function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One table for all of it: what it is about first, hours as numbers. */
export function csv(team: Team): string {
  const rows: (string | number | null)[][] = [['what', 'name', 'group', 'gpu_hours_held', 'busy_hours', 'observed_hours']];
  const add = (what: string, name: string | null, group: string | null, each: Seen) =>
    rows.push([what, name, group, ...[each.held_s, each.busy_s, each.observed_s].map((value) => Number((value / 3600).toFixed(4)))]);
  for (const each of team.people) add('person', each.user, each.group, each);
  for (const each of team.groups) add('group', each.group, each.group, each);
  for (const each of team.days) add('day', each.day, null, each);
  return `${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;
}

export function download(team: Team): void {
  // The mark at the start tells spreadsheets that names are UTF-8.
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(['\ufeff', csv(team)], { type: 'text/csv' }));
  link.download = `roost-team-${team.from.slice(0, 10)}-${team.to.slice(0, 10)}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
