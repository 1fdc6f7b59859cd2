import { expect, test } from 'vitest';
import { quoted, typed, variables, type Draft } from '../src/queue/draft';

const draft: Draft = { command: "python train.py --name 'a b'", directory: '/', gpus: 2, time: '4h', name: '', class: 'regular', reason: '', environment: '', memory: '', group: '' };

test('what is typed says the same as the form', () => {
  expect(typed(draft)).toBe(`roost run -g 2 --time 4h -- sh -c 'python train.py --name '\\''a b'\\'''`);
  expect(typed({ ...draft, class: 'background', name: 'my run', time: '' })).toContain("--name 'my run' --class background");
});

test('variables stand before the command, a share in place of GPUs', () => {
  expect(typed({ ...draft, command: 'x', environment: 'SEED=1\n MODE=a b \n', memory: '20G', group: 'nlp', reason: "it's due" })).toBe(
    `SEED=1 MODE='a b' roost run --gpu-mem 20G --time 4h --group nlp --reason 'it'\\''s due' -- sh -c x`,
  );
  expect(variables('A=b=c\n\nD=')).toEqual({ found: { A: 'b=c', D: '' } });
  expect(variables('A=1\n2B=3')).toEqual({ wrong: '2B=3' });
});

test('a shell takes a quoted word for one word', () => {
  expect(quoted('a/b-c_1.py')).toBe('a/b-c_1.py');
  expect(quoted('$(rm)')).toBe("'$(rm)'");
});
