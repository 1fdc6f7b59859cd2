import { expect, test } from 'vitest';
import { clock, dayOf, duration, exact, weekHour } from '../src/lib/time';

const now = new Date('2026-12-02T20:00:00Z');

test('today is the hour alone, this week has a weekday, the rest a date', () => {
  expect(clock(new Date('2026-12-02T17:40:00Z'), now, 'UTC', 'en')).toBe('17:40');
  expect(clock(new Date('2026-12-04T09:00:00Z'), now, 'UTC', 'en')).toBe('Fri 09:00');
  expect(clock(new Date('2027-01-04T09:00:00Z'), now, 'UTC', 'en')).toBe('4 Jan 09:00');
  expect(clock(new Date('2026-12-04T09:00:00Z'), now, 'UTC', 'zh')).toBe('周五 09:00');
});

test('today is today in the zone of the rules, not of the browser', () => {
  expect(clock(new Date('2026-12-02T23:30:00Z'), now, 'Asia/Shanghai', 'en')).toBe('07:30');
  expect(dayOf(new Date('2026-12-02T23:30:00Z'), 'Asia/Shanghai')).toBe('2026-12-03');
  expect(exact(new Date('2026-12-02T23:30:00Z'), 'Asia/Shanghai', 'en')).toContain('(Asia/Shanghai)');
});

test('a zone that the browser does not know is UTC, and nothing breaks', () => {
  expect(clock(new Date('2026-12-02T17:40:00Z'), now, 'Not/AZone', 'en')).toBe('17:40');
});

test('the hour that comes twice is told apart by its offset', () => {
  expect(weekHour(new Date('2026-10-25T00:30:00Z'), 'Europe/Berlin')).toEqual({ day: 6, hour: 2 });
  expect(weekHour(new Date('2026-10-25T01:30:00Z'), 'Europe/Berlin')).toEqual({ day: 6, hour: 2 });
  expect(weekHour(new Date('2026-10-25T02:30:00Z'), 'Europe/Berlin')).toEqual({ day: 6, hour: 3 });
});

test.each([
  [40, '40 s', '40 秒'], [720, '12 min', '12 分'], [12_000, '3 h 20 min', '3 小时 20 分'], [187_200, '2 d 4 h', '2 天 4 小时'], [-5, '0 s', '0 秒'],
])('%d seconds', (seconds, english, chinese) => {
  expect(duration(seconds, 'en')).toBe(english);
  expect(duration(seconds, 'zh')).toBe(chinese);
});
