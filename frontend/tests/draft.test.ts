import { expect, test } from 'vitest';
import { quoted, typed, type Draft } from '../src/queue/draft';

const draft: Draft = { command: "python train.py --name 'a b'", directory: '/', gpus: 2, time: '4h', name: '', class: 'regular', reason: '' };

test('what is typed says the same as the form', () => {
  expect(typed(draft)).toBe(`roost run -g 2 --time 4h -- sh -c 'python train.py --name '\\''a b'\\'''`);
  expect(typed({ ...draft, class: 'background', name: 'my run', time: '' })).toContain("--name 'my run' --class background");
});

test('a shell takes a quoted word for one word', () => {
  expect(quoted('a/b-c_1.py')).toBe('a/b-c_1.py');
  expect(quoted('$(rm)')).toBe("'$(rm)'");
});
