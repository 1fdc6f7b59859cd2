// The calendar's time: the rules' zone with its days of 23 and 25 hours, and what stands in a row.
import { describe, expect, it } from 'vitest';
import type { Booking, Gpu, Job } from '../src/api/types';
import { rowsOf } from '../src/calendar/bars';
import { bodyOf, changeOf, draftOf, draftOfBooking, timesOf, typed } from '../src/calendar/draft';
import { ONCE, ruleOf, ruleRead } from '../src/calendar/repeat';
import { dayAt, hourAt, HOUR, hoursOf, instantOf, isDay, spanOf, stepAt, stepped } from '../src/calendar/zone';

const BERLIN = 'Europe/Berlin';
const at = (iso: string) => Date.parse(iso);

describe('days of the rules’ zone', () => {
  it('have 23 and 25 hours where the clocks change', () => {
    const [spring] = spanOf('day', '2026-03-29', BERLIN).days;
    const [autumn] = spanOf('day', '2026-10-25', BERLIN).days;
    if (!spring || !autumn) throw new Error('no day');
    expect((spring.end - spring.start) / HOUR).toBe(23);
    expect((autumn.end - autumn.start) / HOUR).toBe(25);
    expect(hoursOf(spring, 1, BERLIN).map((each) => hourAt(each, BERLIN)).slice(0, 4)).toEqual(['00:00', '01:00', '03:00', '04:00']);
    expect(hoursOf(autumn, 1, BERLIN).map((each) => hourAt(each, BERLIN)).slice(0, 5)).toEqual(['00:00', '01:00', '02:00', '02:00', '03:00']);
  });
  it('begin when the clock first strikes, also where midnight is skipped', () => {
    const [day] = spanOf('day', '2026-04-24', 'Africa/Cairo').days;
    expect(new Date(day?.start ?? 0).toISOString()).toBe('2026-04-23T22:00:00.000Z');
    expect(((day?.end ?? 0) - (day?.start ?? 0)) / HOUR).toBe(23);
  });
  it('read an hour that comes twice as its first, and a skipped one as later by what is skipped', () => {
    expect(new Date(instantOf('2026-10-25', '02:30', BERLIN) ?? 0).toISOString()).toBe('2026-10-25T00:30:00.000Z');
    expect(new Date(instantOf('2026-03-29', '02:30', BERLIN) ?? 0).toISOString()).toBe('2026-03-29T01:30:00.000Z');
  });
  it('make weeks from Monday and whole months', () => {
    expect(spanOf('week', '2026-12-03', 'Asia/Shanghai').days.map((each) => each.day)).toEqual([
      '2026-11-30', '2026-12-01', '2026-12-02', '2026-12-03', '2026-12-04', '2026-12-05', '2026-12-06']);
    expect(spanOf('month', '2026-12-31', BERLIN).days).toHaveLength(31);
    expect(spanOf('month', '2028-02-10', BERLIN).days).toHaveLength(29);
    const week = spanOf('week', '2026-10-25', BERLIN);
    expect((week.end - week.start) / HOUR).toBe(7 * 24 + 1);
    expect(stepped('month', '2026-01-31', 1)).toBe('2026-02-01');
    expect(stepped('week', '2026-12-03', -1)).toBe('2026-11-26');
    expect(isDay('2026-02-30')).toBe(false);
  });
  it('are stepped through on the wall’s clock', () => {
    expect(stepAt(at('2026-12-03T08:52:00Z'), 'day', BERLIN).start).toBe(at('2026-12-03T08:45:00Z'));
    expect(stepAt(at('2026-12-03T08:52:00Z'), 'week', 'Asia/Kolkata').start).toBe(at('2026-12-03T08:30:00Z'));
    const whole = stepAt(at('2026-10-25T12:00:00Z'), 'month', BERLIN);
    expect((whole.end - whole.start) / HOUR).toBe(25);
    expect(dayAt(whole.start, BERLIN)).toBe('2026-10-25');
  });
});

const gpu = { uuid: 'GPU-a', index: 0, name: 'A100', holders: [], drained: false } as unknown as Gpu;
const booking = (number: number, start: string, end: string, more: Partial<Booking> = {}) =>
  ({ booking: number, user: 'ann', state: 'booked', gpus: ['GPU-a'], start, end, maintenance: false, ...more }) as Booking;
const job = (number: number, start: string, latest_end: string | null) =>
  ({ job: number, user: 'ben', gpus: ['GPU-a'], start_time: start, latest_end, end_time: null }) as Job;
const row = (bookings: Booking[], jobs: Job[]) =>
  rowsOf([gpu], bookings, jobs, at('2026-12-03T00:00:00Z'), at('2026-12-04T00:00:00Z'), at('2026-12-03T06:00:00Z'))[0];

describe('a row', () => {
  it('is free between what stands in it, from now on', () => {
    const found = row([booking(1, '2026-12-03T09:00:00Z', '2026-12-03T12:00:00Z'), booking(2, '2026-12-03T12:00:00Z', '2026-12-03T13:00:00Z')], []);
    expect(found?.free).toEqual([
      { start: at('2026-12-03T06:00:00Z'), end: at('2026-12-03T09:00:00Z') },
      { start: at('2026-12-03T13:00:00Z'), end: at('2026-12-04T00:00:00Z') },
    ]);
    expect(found?.bars.map((bar) => [bar.lane, bar.lanes])).toEqual([[0, 1], [0, 1]]);
  });
  it('is shared in height by what overlaps', () => {
    const found = row([booking(1, '2026-12-03T09:00:00Z', '2026-12-03T12:00:00Z')], [job(7, '2026-12-03T05:00:00Z', '2026-12-03T10:00:00Z')]);
    expect(found?.bars.map((bar) => [bar.key, bar.lane, bar.lanes])).toEqual([['j7', 0, 2], ['b1', 1, 2]]);
  });
  it('has no free room after a job of which no end is known, and shows nothing that was cancelled', () => {
    const found = row([booking(1, '2026-12-03T09:00:00Z', '2026-12-03T12:00:00Z', { state: 'cancelled' })], [job(7, '2026-12-03T05:00:00Z', null)]);
    expect(found?.free).toEqual([]);
    expect(found?.bars.map((bar) => bar.key)).toEqual(['j7']);
  });
});

describe('a draft', () => {
  const draft = draftOf(at('2026-12-03T22:00:00Z'), at('2026-12-04T02:00:00Z'), ['GPU-a'], BERLIN);
  it('is written in the rules’ zone and sent as instants', () => {
    expect([draft.fromDay, draft.fromHour, draft.untilDay, draft.untilHour]).toEqual(['2026-12-03', '23:00', '2026-12-04', '03:00']);
    expect(bodyOf(draft, BERLIN)).toMatchObject({ start: '2026-12-03T22:00:00.000Z', end: '2026-12-04T02:00:00.000Z', chosen: ['GPU-a'], gpus: 1 });
    expect(timesOf({ ...draft, untilDay: '2026-12-03', untilHour: '23:00' }, BERLIN)).toBeNull();
  });
  it('is the same as a command', () => {
    expect(typed({ ...draft, purpose: 'a paper' }, [0])).toBe(
      `roost book --gpu 0 --from "2026-12-03 23:00" --until "2026-12-04 03:00" --purpose 'a paper'`);
    expect(typed({ ...draft, chosen: [], count: 2, wait: true }, [])).toBe(
      'roost book -g 2 --from "2026-12-03 23:00" --until "2026-12-04 03:00" --wait');
    expect(typed({ ...draft, user: 'ben' }, [0], { rule: 'FREQ=DAILY;COUNT=4', except: ['2026-12-05'], skip: true })).toBe(
      `roost book --gpu 0 --from "2026-12-03 23:00" --until "2026-12-04 03:00" --repeat 'FREQ=DAILY;COUNT=4' --except 2026-12-05 --skip --user ben`);
    expect(bodyOf(draft, BERLIN)).not.toHaveProperty('user');
  });
  it('asks for a share of a GPU in place of GPUs', () => {
    const share = { ...draft, chosen: [], memoryGib: 20 };
    expect(typed(share, [])).toBe('roost book --gpu-mem 20G --from "2026-12-03 23:00" --until "2026-12-04 03:00"');
    expect(bodyOf(share, BERLIN)).toMatchObject({ gpu_memory_bytes: 20 * 2 ** 30 });
    expect(bodyOf(share, BERLIN)).not.toHaveProperty('gpus');
  });
});

describe('a change', () => {
  const one = booking(5, '2026-10-24T22:30:27Z', '2026-10-25T01:30:00Z', { wanted: 1, gpu_memory_bytes: null, purpose: 'a paper', public: false });
  const draft = draftOfBooking(one, BERLIN);
  it('says only what changes, and keeps the seconds of what stays', () => {
    expect(changeOf(one, draft, 'keep', BERLIN)).toEqual({});
    expect(changeOf(one, draft, 'any', BERLIN)).toEqual({});
    expect(changeOf(one, draft, 'these', BERLIN)).toEqual({});
    expect(changeOf(one, { ...draft, purpose: ' ', public: true }, 'keep', BERLIN)).toEqual({ purpose: '', public: true });
    expect(changeOf(one, { ...draft, count: 2 }, 'any', BERLIN)).toEqual({ gpus: 2 });
    expect(changeOf(one, { ...draft, chosen: ['GPU-b'] }, 'these', BERLIN)).toEqual({ chosen: ['GPU-b'] });
    expect(changeOf(one, { ...draft, untilDay: '2026-10-24' }, 'keep', BERLIN)).toBeNull();
  });
  it('does not read the second of two equal hours, where the booking ends, as the first', () => {
    expect(draft.untilHour).toBe('02:30');
    expect(changeOf(one, { ...draft, fromHour: '01:00' }, 'keep', BERLIN)).toEqual({
      start: '2026-10-24T23:00:00.000Z', end: '2026-10-25T01:30:00.000Z' });
    expect(changeOf(one, { ...draft, untilHour: '04:00' }, 'keep', BERLIN)).toEqual({ end: '2026-10-25T03:00:00.000Z' });
  });
  it('is of a share’s memory, in GiB', () => {
    const share = { ...one, gpu_memory_bytes: 20 * 2 ** 30 };
    expect(changeOf(share, { ...draftOfBooking(share, BERLIN), memoryGib: 40 }, 'keep', BERLIN)).toEqual({ gpu_memory_bytes: 40 * 2 ** 30 });
  });
});

describe('a repetition', () => {
  it('is a rule of RFC 5545', () => {
    expect(ruleOf(ONCE)).toBe('');
    expect(ruleOf({ ...ONCE, every: 'daily' })).toBe('FREQ=DAILY;COUNT=4');
    expect(ruleOf({ ...ONCE, every: 'weekdays', ends: 'open' })).toBe('FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR');
    expect(ruleOf({ ...ONCE, every: 'weekly', ends: 'until', until: '2026-12-24' })).toBe('FREQ=WEEKLY;UNTIL=20261224');
    expect(ruleOf({ ...ONCE, every: 'weekly', ends: 'until' })).toBeNull();
    expect(ruleOf({ ...ONCE, every: 'weekly', count: 0 })).toBeNull();
  });
  it('is read where it is one that can be chosen, its end as a day of the zone', () => {
    expect(ruleRead('FREQ=DAILY', BERLIN)).toEqual({ kind: 'daily', until: null });
    expect(ruleRead('FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20261223T230000Z', BERLIN)).toEqual({ kind: 'weekdays', until: '2026-12-24' });
    expect(ruleRead('FREQ=WEEKLY;UNTIL=20261224', BERLIN)).toEqual({ kind: 'weekly', until: '2026-12-24' });
    for (const other of ['FREQ=WEEKLY;INTERVAL=2', 'FREQ=MONTHLY;BYMONTHDAY=1', 'FREQ=WEEKLY;BYDAY=MO', 'nonsense']) expect(ruleRead(other, BERLIN)).toBeNull();
  });
});
