// What a GPU's card says: the same reading as `roost status`.
import { expect, test } from 'vitest';
import type { Gpu, Holder, Job } from '../src/api/types';
import { cardOf, holdings, isFree, lines, model, nextFree, segments } from '../src/now/card';

const GIB = 2 ** 30;

function holder(given: Partial<Holder>): Holder {
  return {
    gpu_index: 0, gpu_uuid: 'GPU-0', pid: 1, user: 'li', group: 'lab', kind: 'session', container: null, job: null, booking: null,
    memory_bytes: 10 * GIB, command: 'python train.py', since: '2026-12-02T09:00:00Z', idle_s: null, right: null, reason: null,
    until: null, ignored: false, lawful: true, reason_text: null, sign: null, remedy: null, sure: null, start_ticks: 1, uid: 1000,
    workers: [], owner_evidence: null, owner_sure: null, free: null, candidates: [], checks: [],
    ...given,
  };
}

function gpu(given: Partial<Gpu>): Gpu {
  return {
    index: 0, uuid: 'GPU-0', name: 'NVIDIA A100-SXM4-80GB', memory_total_bytes: 80 * GIB, memory_used_bytes: 40 * GIB, memory_reserved_bytes: 0,
    utilisation_percent: 50, temperature_c: 60, temperature_slowdown_c: 90, power_w: 200, power_limit_w: 400,
    memory_utilisation_percent: 30, sm_clock_mhz: 1410, fan_percent: null, mig_mode: false, health: 'ok', health_text: null,
    holders: [], drained: false, drain_reason: null, bookings: [], free_until: null, ...given,
  };
}

const none = new Map<number, Job>();

test('free is well, not drained, and without a holder that counts', () => {
  expect(isFree(gpu({}))).toBe(true);
  expect(isFree(gpu({ holders: [holder({ ignored: true })] }))).toBe(true);
  expect(isFree(gpu({ holders: [holder({})] }))).toBe(false);
  expect(isFree(gpu({ drained: true }))).toBe(false);
  expect(isFree(gpu({ health: 'lost' }))).toBe(false);
});

test('who has it booked now takes it, who has it next ends what is free, booked memory neither', () => {
  const booking = { booking: 7, user: 'mei', start: '2026-12-02T09:00:00Z', end: '2026-12-02T10:00:00Z', on: true, maintenance: false, gpu_memory_bytes: null };
  expect(cardOf(gpu({ bookings: [booking] }), none, 'li')).toMatchObject({ free: false, booked: { user: 'mei' }, next: null });
  expect(cardOf(gpu({ bookings: [{ ...booking, on: false }] }), none, 'li')).toMatchObject({ free: true, booked: null, next: { user: 'mei' } });
  expect(cardOf(gpu({ bookings: [{ ...booking, gpu_memory_bytes: GIB }] }), none, 'li')).toMatchObject({ free: true, booked: null });
  const there = cardOf(gpu({ bookings: [booking], holders: [holder({ user: 'mei', kind: 'booking', booking: 7 })] }), none, 'li');
  expect(there).toMatchObject({ free: false, booked: null });
});

test('processes of one job are one holding, with their memory together and the first start', () => {
  const found = holdings([
    holder({ kind: 'job', job: 7, memory_bytes: GIB, since: '2026-12-02T10:00:00Z' }),
    holder({ kind: 'job', job: 7, pid: 2, memory_bytes: 2 * GIB, since: '2026-12-02T09:00:00Z' }),
  ], none);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ job: 7, memory_bytes: 3 * GIB, since: '2026-12-02T09:00:00Z' });
});

test('a GPU of several jobs is free when the last ends, and nobody knows where one has no end', () => {
  const at = (job: number, until: string | null) => holder({ kind: 'job', job, until });
  expect(cardOf(gpu({ holders: [at(1, '2026-12-02T10:00:00Z'), at(2, '2026-12-02T12:00:00Z')] }), none, 'li').until).toBe('2026-12-02T12:00:00Z');
  expect(cardOf(gpu({ holders: [at(1, '2026-12-02T10:00:00Z'), at(2, null)] }), none, 'li').until).toBeNull();
});

test('the next free GPU is the one whose jobs are over first', () => {
  const cards = [
    cardOf(gpu({ index: 0, holders: [holder({ job: 1, kind: 'job', until: '2026-12-02T12:00:00Z' })] }), none, ''),
    cardOf(gpu({ index: 1, holders: [holder({ job: 2, kind: 'job', until: '2026-12-02T11:00:00Z' })] }), none, ''),
    cardOf(gpu({ index: 2, holders: [holder({})] }), none, ''),
  ];
  expect(nextFree(cards)?.gpu.index).toBe(1);
});

test('the memory bar: the largest holder first, what nobody is known to hold last', () => {
  const parts = segments(gpu({ holders: [
    holder({ user: null, kind: 'unattributed', memory_bytes: 50 * GIB }), holder({ user: 'a', memory_bytes: GIB }),
    holder({ user: 'b', memory_bytes: 4 * GIB }), holder({ user: 'b', memory_bytes: 4 * GIB }),
  ] }));
  expect(parts.map((part) => [part.user, part.share])).toEqual([['b', 0.1], ['a', 1 / 80], [null, 0.625]]);
  expect(segments(gpu({ memory_used_bytes: null }))).toEqual([]);
});

test('a gap in the readings is a gap in the line', () => {
  expect(lines([0, 100, null, 50], 30, 10)).toEqual(['0.0,10.0 10.0,0.0', '30.0,5.0']);
  expect(lines([null, null], 30, 10)).toEqual([]);
});

test.each([['NVIDIA A100-SXM4-80GB', 'A100 80GB'], ['NVIDIA GeForce RTX 4090', 'RTX 4090'], ['NVIDIA H100 80GB HBM3', 'H100 80GB HBM3'], ['Tesla T4', 'Tesla T4']])(
  '%s is called %s', (name, called) => {
    expect(model(name)).toBe(called);
  });
