import { expect, test } from 'vitest';
import { grown, NO_LINES, shownLast, type Lines } from '../src/lib/lines';

const all = (...pieces: string[]): Lines => pieces.reduce((lines, each) => grown(lines, each, 100), NO_LINES);

test('a progress bar is one line', () => {
  const lines = all(' 10%|#', '\r 20%|##\r 30%|###', '\r\ndone\n');
  expect(lines).toEqual({ done: [' 30%|###', 'done'], last: '' });
});

test('a line that is still written is shown as it stands', () => {
  expect(shownLast(all('a\r\nb\r', 'c'))).toBe('c');
  expect(shownLast(all('abc\r'))).toBe('abc');
});

test('only the last lines are kept', () => {
  expect(grown(NO_LINES, 'a\nb\nc\nd', 2)).toEqual({ done: ['b', 'c'], last: 'd' });
});
