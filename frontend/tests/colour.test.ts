// A person's colour on the page is that of the terminal: the vectors are shared with the Python test.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { colourOf, initials } from '../src/lib/colour';

interface Vector { name: string; colour: string; initials: string }
const vectors = JSON.parse(readFileSync(new URL('../../tests/data/colours.json', import.meta.url), 'utf8')) as Vector[];

test.each(vectors)('$name has the same colour and initials everywhere', ({ name, colour, initials: two }) => {
  expect(colourOf(name)).toBe(colour);
  expect(initials(name)).toBe(two);
});
