// Two texts line by line: the longest common lines stay, the others were removed or added. Knows no
// drawing and no language.

export interface Line {
  kind: 'same' | 'added' | 'removed';
  text: string;
  /** The number of the line in the old and the new text; null where it is not there. */
  old: number | null;
  new: number | null;
}

/** A piece of a diff: lines, or so many that are as before and left out. */
export type Piece = { lines: Line[] } | { left: number };

/** Beyond so many pairs to compare, what differs in the middle is told as removed and added whole. */
const MOST_PAIRS = 4_000_000;

export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export function diff(before: string, after: string): Line[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const found: Line[] = [];
  const same = (i: number, j: number) => found.push({ kind: 'same', text: a[i] ?? '', old: i + 1, new: j + 1 });
  for (let i = 0; i < start; i++) same(i, i);
  middle(a.slice(start, a.length - end), b.slice(start, b.length - end), start, found);
  for (let k = end; k > 0; k--) same(a.length - k, b.length - k);
  return found;
}

function middle(a: readonly string[], b: readonly string[], offset: number, found: Line[]): void {
  const removed = (i: number) => found.push({ kind: 'removed', text: a[i] ?? '', old: offset + i + 1, new: null });
  const added = (j: number) => found.push({ kind: 'added', text: b[j] ?? '', old: null, new: offset + j + 1 });
  if (a.length * b.length > MOST_PAIRS) {
    a.forEach((_, i) => removed(i));
    b.forEach((_, j) => added(j));
    return;
  }
  // length[i][j]: of the longest common lines of a from i on and b from j on.
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => length[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ kind: 'same', text: a[i] ?? '', old: offset + i + 1, new: offset + j + 1 });
      i++;
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) removed(i++);
    else added(j++);
  }
}

/** With so many lines around each change; the rest is counted. Nothing where nothing differs. */
export function pieces(lines: readonly Line[], around = 3): Piece[] {
  const near = new Array<boolean>(lines.length).fill(false);
  lines.forEach((line, place) => {
    if (line.kind === 'same') return;
    for (let k = Math.max(0, place - around); k <= Math.min(lines.length - 1, place + around); k++) near[k] = true;
  });
  if (!near.includes(true)) return [];
  const found: Piece[] = [];
  let left = 0;
  let run: Line[] = [];
  const close = () => {
    if (left) found.push({ left });
    if (run.length) found.push({ lines: run });
    left = 0;
    run = [];
  };
  lines.forEach((line, place) => {
    if (near[place]) {
      if (left) close();
      run.push(line);
    } else {
      if (run.length) close();
      left++;
    }
  });
  close();
  return found;
}
