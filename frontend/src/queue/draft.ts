// A job as it is being written, and the command that says the same.

export interface Draft {
  command: string;
  directory: string;
  gpus: number;
  time: string;
  name: string;
  class: 'urgent' | 'regular' | 'background';
  reason: string;
}

/** A word as a shell takes it for one. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function typed(draft: Draft): string {
  const words = ['roost', 'run', '-g', String(draft.gpus)];
  if (draft.time.trim()) words.push('--time', quoted(draft.time.trim()));
  if (draft.name.trim()) words.push('--name', quoted(draft.name.trim()));
  if (draft.class !== 'regular') words.push('--class', draft.class);
  return [...words, '--', 'sh', '-c', quoted(draft.command.trim() || '…')].join(' ');
}
