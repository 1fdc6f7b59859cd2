import { expect, test } from 'vitest';
import type { UsageRow } from '../src/api/types';
import { busyPercent, byClass, NONE, sum } from '../src/me/sums';

const row = (more: Partial<UsageRow>): UsageRow => ({
  hour: '2026-12-01T00:00:00Z', gpu_uuid: 'GPU-0', user: 'ann', group: null, job: 1, class: 'regular',
  held_s: 3600, observed_s: 3600, busy_s: 900, gb_s: 0, joules: 10, ...more,
});

test('rows add up, and what nobody looked at is not idle', () => {
  const all = sum([row({}), row({ observed_s: 0, busy_s: 0 })]);
  expect(all.held).toBe(7200);
  expect(busyPercent(all)).toBe(25);
  expect(busyPercent(NONE)).toBeNull();
});

test('classes come with the most first', () => {
  expect(byClass([row({}), row({ class: 'urgent', held_s: 9000 }), row({ class: null, held_s: 5 })])).toEqual([
    ['urgent', 9000], ['regular', 3600], ['', 5],
  ]);
});
