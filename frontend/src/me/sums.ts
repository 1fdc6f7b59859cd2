// What rows of the ledger add up to. Pure: no clock, no words.
import type { UsageRow } from '../api/types';

export interface Sum {
  /** GPU-seconds held; of them looked at; of those busy. */
  held: number;
  observed: number;
  busy: number;
  joules: number;
}

export const NONE: Sum = { held: 0, observed: 0, busy: 0, joules: 0 };

export function sum(rows: readonly UsageRow[]): Sum {
  return rows.reduce<Sum>((total, row) => ({
    held: total.held + row.held_s,
    observed: total.observed + row.observed_s,
    busy: total.busy + row.busy_s,
    joules: total.joules + row.joules,
  }), NONE);
}

/** Percent busy of the time in which somebody looked; null where nobody did. */
export const busyPercent = (of: Sum): number | null => (of.observed > 0 ? (100 * of.busy) / of.observed : null);

/** Held GPU-seconds by class, the most first; "" is what was held outside a job. */
export function byClass(rows: readonly UsageRow[]): [string, number][] {
  const found = new Map<string, number>();
  for (const row of rows) found.set(row.class ?? '', (found.get(row.class ?? '') ?? 0) + row.held_s);
  return [...found].filter(([, held]) => held > 0).sort((one, other) => other[1] - one[1]);
}
