import { expect, test } from 'vitest';
import { bytes, gib, hours, memory, percent, seconds, UNKNOWN } from '../src/lib/units';

test('what a card does not say is unknown, and zero is zero', () => {
  expect(percent(null)).toBe(UNKNOWN);
  expect(percent(0)).toBe('0 %');
  expect(bytes(null)).toBe(UNKNOWN);
  expect(gib(0)).toBe('0');
});

test('bytes read as people read them', () => {
  expect(bytes(61 * 2 ** 30)).toBe('61 GiB');
  expect(bytes(1.5 * 2 ** 30)).toBe('1.5 GiB');
  expect(bytes(150 * 2 ** 20)).toBe('150 MiB');
});

test.each([
  ['90m', 5400], ['4h', 14_400], ['1d 12h', 129_600], ['1.5h', 5400], ['2:30:00', 9000], ['1-12:00:00', 129_600],
  ['45:00', 162_000], ['30s', 30], ['', null], ['soon', null], ['4', null], ['4h tomorrow', null],
])('a time of %j is %j seconds', (text, expected) => {
  expect(seconds(text)).toBe(expected);
});

test.each([['40G', 40 * 2 ** 30], ['512M', 512 * 2 ** 20], ['40 GiB', 40 * 2 ** 30], ['1.5g', 1.5 * 2 ** 30], ['40', null], ['', null]])(
  'memory of %j is %j bytes', (text, expected) => {
    expect(memory(text)).toBe(expected);
  });

test('GPU-hours keep a digit where they are few', () => {
  expect(hours(1440)).toBe('0.4');
  expect(hours(3600 * 1240)).toBe('1,240');
});
