// Two texts line by line: what is told rebuilds both of them.
import { expect, test } from 'vitest';
import { diff, linesOf, pieces, type Line } from '../src/operate/diff';

const side = (lines: readonly Line[], not: Line['kind']) => lines.filter((line) => line.kind !== not).map((line) => line.text);
const brief = (lines: readonly Line[]) => lines.map((line) => `${{ same: ' ', added: '+', removed: '-' }[line.kind]}${line.text}`);

test('a changed line is one removed and one added', () => {
  expect(brief(diff('a\nb\nc\n', 'a\nB\nc\n'))).toEqual([' a', '-b', '+B', ' c']);
  expect(brief(diff('', 'a\n'))).toEqual(['+a']);
  expect(brief(diff('a\nb', ''))).toEqual(['-a', '-b']);
  expect(diff('', '')).toEqual([]);
});

test('what was moved in between stays found', () => {
  expect(brief(diff('a\nb\nc\nd\n', 'a\nx\nc\ny\nd\n'))).toEqual([' a', '-b', '+x', ' c', '+y', ' d']);
  const numbers = diff('a\nb\nc', 'x\na\nc').map((line) => [line.old, line.new]);
  expect(numbers).toEqual([[null, 1], [1, 2], [2, null], [3, 3]]);
});

test('any two texts are rebuilt from it, and no more is told than needs be', () => {
  let seed = 7;
  const next = (most: number) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % most; };
  let differ = 0;
  for (let round = 0; round < 300; round++) {
    const [a, b] = [0, 1].map(() => Array.from({ length: next(12) }, () => 'abc'[next(3)] ?? '').join('\n')) as [string, string];
    const lines = diff(a, b);
    expect(side(lines, 'added')).toEqual(linesOf(a));
    expect(side(lines, 'removed')).toEqual(linesOf(b));
    if (a !== b) differ++;
    const kept = lines.filter((line) => line.kind === 'same').length;
    expect(kept).toBe(common(linesOf(a), linesOf(b)));
  }
  expect(differ).toBeGreaterThan(200);
});

/** The length of the longest common subsequence, the slow and obvious way. */
function common(a: readonly string[], b: readonly string[]): number {
  if (!a.length || !b.length) return 0;
  if (a[0] === b[0]) return 1 + common(a.slice(1), b.slice(1));
  return Math.max(common(a.slice(1), b), common(a, b.slice(1)));
}

test('two long texts with nothing in common are told at once', () => {
  const long = (start: string) => Array.from({ length: 6000 }, (_, n) => `${start}${n}`).join('\n');
  expect(diff(long('a'), long('b'))).toHaveLength(12_000);
});

test('far from a change lines are counted, not shown', () => {
  const before = Array.from({ length: 40 }, (_, n) => `l${n}`).join('\n');
  const found = pieces(diff(before, before.replace('l20\n', 'x\n')), 2);
  expect(found.map((piece) => ('left' in piece ? piece.left : piece.lines.length))).toEqual([18, 6, 17]);
  expect(pieces(diff(before, before))).toEqual([]);
});
