// A job as it is being written, and the command that says the same.

export interface Draft {
  command: string;
  directory: string;
  gpus: number;
  time: string;
  name: string;
  class: 'urgent' | 'regular' | 'background';
  reason: string;
  /** One NAME=VALUE a line. */
  environment: string;
  /** Of a shared GPU, such as "20G"; empty: whole GPUs. */
  memory: string;
  /** What it is charged to; empty: the person's own. */
  group: string;
}

/** The variables of NAME=VALUE lines, or the first line that is none. */
export function variables(text: string): { found: Record<string, string> } | { wrong: string } {
  const found: Record<string, string> = {};
  for (const line of text.split('\n').map((each) => each.trim()).filter(Boolean)) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return { wrong: line };
    found[name] = value;
  }
  return { found };
}

/** A word as a shell takes it for one. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function typed(draft: Draft): string {
  const words = ['roost', 'run', ...(draft.memory.trim() ? ['--gpu-mem', quoted(draft.memory.trim())] : ['-g', String(draft.gpus)])];
  if (draft.time.trim()) words.push('--time', quoted(draft.time.trim()));
  if (draft.name.trim()) words.push('--name', quoted(draft.name.trim()));
  if (draft.group) words.push('--group', quoted(draft.group));
  if (draft.class !== 'regular') words.push('--class', draft.class);
  if (draft.reason.trim()) words.push('--reason', quoted(draft.reason.trim()));
  const set = variables(draft.environment);
  // A job gets the variables of the shell that submits it.
  const before = 'found' in set ? Object.entries(set.found).map(([name, value]) => `${name}=${quoted(value)}`) : [];
  return [...before, ...words, '--', 'sh', '-c', quoted(draft.command.trim() || '…')].join(' ');
}
