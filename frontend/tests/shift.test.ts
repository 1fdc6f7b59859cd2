// Bookings moved and stretched on the wall's clock, across the days on which the clocks change.
import { describe, expect, it } from 'vitest';
import type { Booking } from '../src/api/types';
import { askedOf, edgeAt, nudged, onOther, placeOf, samePlace, shifted, stepsBetween, stretched, whyStays } from '../src/calendar/shift';
import { HOUR } from '../src/calendar/zone';

const BERLIN = 'Europe/Berlin';
const at = (iso: string) => Date.parse(iso);
const iso = (time: number) => new Date(time).toISOString();
const place = (start: string, end: string, gpus = ['GPU-a']) => ({ start: at(start), end: at(end), gpus });
const NOW = at('2026-03-01T00:00:00Z');

describe('a booking moved', () => {
  it('keeps its hour and its length where the clocks change in between', () => {
    // The day before the clocks go forward, 9:00 to 17:00; the clocks of the day after say the same.
    const before = place('2026-03-28T08:00:00Z', '2026-03-28T16:00:00Z');
    const after = nudged(before, 'all', 1, 'month', NOW, BERLIN);
    expect([iso(after.start), iso(after.end)]).toEqual(['2026-03-29T07:00:00.000Z', '2026-03-29T15:00:00.000Z']);
    expect(nudged(after, 'all', -1, 'month', NOW, BERLIN)).toEqual(before);
    const autumn = nudged(place('2026-10-24T07:00:00Z', '2026-10-24T15:00:00Z'), 'all', 1, 'month', NOW, BERLIN);
    expect([iso(autumn.start), iso(autumn.end)]).toEqual(['2026-10-25T08:00:00.000Z', '2026-10-25T16:00:00.000Z']);
  });
  it('steps over the hour that is skipped', () => {
    const before = place('2026-03-29T00:30:00Z', '2026-03-29T02:30:00Z'); // 1:30 to 4:30 on the wall: two hours
    const after = nudged(before, 'all', 1, 'week', NOW, BERLIN);
    expect([iso(after.start), (after.end - after.start) / HOUR]).toEqual(['2026-03-29T01:30:00.000Z', 2]); // 3:30
  });
  it('stays in the second of the hours that come twice when it does not move', () => {
    const second = place('2026-10-25T01:30:00Z', '2026-10-25T03:00:00Z');
    expect(shifted(second, 0, NOW, BERLIN)).toEqual(second);
  });
  it('is dragged by whole steps of the wall’s clock', () => {
    expect(stepsBetween(at('2026-12-03T08:01:00Z'), at('2026-12-03T09:04:00Z'), 'day', BERLIN) / HOUR).toBe(1);
    expect(stepsBetween(at('2026-12-03T08:01:00Z'), at('2026-12-03T10:40:00Z'), 'week', BERLIN) / HOUR).toBe(3);
    // From one noon to the next are 25 hours, and one day.
    expect(stepsBetween(at('2026-10-24T10:00:00Z'), at('2026-10-25T11:00:00Z'), 'month', BERLIN) / HOUR).toBe(24);
  });
  it('does not go into the past, and is as long as it was', () => {
    const now = at('2026-12-03T08:52:30Z');
    const after = shifted(place('2026-12-03T10:00:00Z', '2026-12-03T12:00:00Z'), -5 * HOUR, now, BERLIN);
    expect([iso(after.start), (after.end - after.start) / HOUR]).toEqual(['2026-12-03T08:52:00.000Z', 2]);
  });
});

describe('an edge', () => {
  const before = place('2026-10-25T00:00:00Z', '2026-10-25T00:30:00Z'); // 2:00 to 2:30, the first time
  it('snaps to the lines of the picture', () => {
    expect(iso(edgeAt(at('2026-12-03T09:10:00Z'), 0, HOUR, 'day', BERLIN))).toBe('2026-12-03T10:15:00.000Z');
    expect(iso(edgeAt(at('2026-12-03T09:00:00Z'), 0, 0.4 * HOUR, 'week', BERLIN))).toBe('2026-12-03T09:00:00.000Z');
    expect(iso(edgeAt(at('2026-03-28T16:00:00Z'), at('2026-03-28T16:00:00Z'), at('2026-03-29T15:30:00Z'), 'month', BERLIN))).toBe('2026-03-29T15:00:00.000Z');
  });
  it('reaches into the second of two equal hours', () => {
    expect(iso(edgeAt(before.end, 0, HOUR, 'day', BERLIN))).toBe('2026-10-25T01:30:00.000Z');
  });
  it('leaves a minute between them, from now on', () => {
    expect(iso(stretched(before, 'end', at('2026-10-24T00:00:00Z'), NOW).end)).toBe('2026-10-25T00:01:00.000Z');
    expect(iso(stretched(before, 'start', at('2026-10-26T00:00:00Z'), NOW).start)).toBe('2026-10-25T00:29:00.000Z');
    const on = stretched(before, 'end', NOW, at('2026-10-25T00:10:20Z'));
    expect(iso(on.end)).toBe('2026-10-25T00:12:00.000Z');
  });
});

describe('its GPUs', () => {
  it('are exchanged one for one, and never for one that it has', () => {
    expect(onOther(['a', 'b'], 'b', 'c')).toEqual(['a', 'c']);
    expect(onOther(['a', 'b'], 'b', 'a')).toEqual(['a', 'b']);
    expect(onOther(['a', 'b'], 'b', undefined)).toEqual(['a', 'b']);
  });
  it('are asked for only where others are meant, and never of a share', () => {
    const before = place('2026-12-03T09:00:00Z', '2026-12-03T12:00:00Z', ['a', 'b']);
    const after = { ...before, gpus: ['b', 'a'], end: before.end + HOUR };
    expect(askedOf(before, after, false)).toEqual({ start: '2026-12-03T09:00:00.000Z', end: '2026-12-03T13:00:00.000Z' });
    expect(askedOf(before, { ...after, gpus: ['b', 'c'] }, false)).toMatchObject({ chosen: ['b', 'c'] });
    expect(askedOf(before, { ...after, gpus: ['c'] }, true)).not.toHaveProperty('chosen');
    expect(samePlace(before, { ...before, gpus: ['b', 'a'] })).toBe(true);
  });
});

describe('what stays where it is', () => {
  const now = at('2026-12-03T10:00:00Z');
  const bar = (more: Partial<Booking>) => ({
    kind: 'booking' as const,
    booking: { booking: 1, state: 'booked', start: '2026-12-03T11:00:00Z', end: '2026-12-03T12:00:00Z', gpus: [], may_change: true, maintenance: false, ...more } as unknown as Booking,
  });
  it('says why', () => {
    expect(whyStays(bar({}), 'all', now)).toBeNull();
    expect(whyStays(bar({ may_change: false }), 'end', now)).toBe('move.others');
    expect(whyStays(bar({ may_change: false, maintenance: true }), 'all', now)).toBe('move.maintenance');
    expect(whyStays(bar({ start: '2026-12-03T09:00:00Z' }), 'all', now)).toBe('move.begun');
    expect(whyStays(bar({ start: '2026-12-03T09:00:00Z' }), 'end', now)).toBeNull();
    expect(whyStays(bar({ state: 'ended' }), 'end', now)).toBe('move.over');
    expect(whyStays(bar({ end: '2026-12-03T10:00:00Z' }), 'end', now)).toBe('move.over');
    expect(whyStays({ kind: 'job' }, 'all', now)).toBe('move.job');
    expect(whyStays({ kind: 'use' }, 'all', now)).toBe('move.use');
    expect(placeOf(bar({}).booking).end).toBe(at('2026-12-03T12:00:00Z'));
  });
});
