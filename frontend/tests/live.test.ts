import { expect, test } from 'vitest';
import { EventParser } from '../src/api/live';

test('events come whole, however the network cuts them', () => {
  const parser = new EventParser();
  expect(parser.push('event: status\nda')).toEqual([]);
  expect(parser.push('ta: {"a":1}\n\nevent: who\ndata: {}\n\n: still here\n\neve')).toEqual([
    { topic: 'status', data: '{"a":1}' }, { topic: 'who', data: '{}' },
  ]);
  expect(parser.push('nt: jobs\ndata: [\ndata: ]\n\n')).toEqual([{ topic: 'jobs', data: '[\n]' }]);
});
