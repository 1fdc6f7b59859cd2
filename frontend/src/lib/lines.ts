// Lines as a terminal would leave them: a carriage return starts the line anew, so that a progress bar is
// one line and not a thousand. Must not know where the text comes from.

/** A line that came in pieces: `done` are whole lines, `last` the one that is still written. */
export interface Lines {
  done: string[];
  last: string;
}

export const NO_LINES: Lines = { done: [], last: '' };

/** What the line shows once it is whole: what comes after its last carriage return. */
function left(line: string): string {
  const clean = line.replace(/\r+$/, '');
  return clean.slice(clean.lastIndexOf('\r') + 1);
}

/** Takes in what came; keeps `most` lines, the last ones. */
export function grown(before: Lines, text: string, most: number): Lines {
  const parts = (before.last + text).split('\n');
  const last = parts.pop() ?? '';
  const done = [...before.done, ...parts.map(left)];
  // What was overwritten need not be kept, but a carriage return at the end may belong to a line feed.
  const at = last.replace(/\r+$/, '').lastIndexOf('\r');
  return { done: done.slice(-most), last: last.slice(at + 1) };
}

export const shownLast = (lines: Lines): string => left(lines.last);
