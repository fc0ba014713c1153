import { expect, it } from 'vitest';
import { computeTextMemory } from '#shared/core/text-memory.ts';

const texts = (first: string): string =>
  JSON.stringify([first, ...Array.from({ length: 4_000 }, () => 'x'.repeat(100))]);
const base64 = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(20_000);

it.each([
  ['ASCII', texts('a'), 1],
  ['Latin-1', texts('äÿ'), 1],
  ['one character outside of Latin-1', texts('Ā'), 2],
  ['one character outside of the basic plane', texts('😀'), 2],
  ['one escape', texts('a').replace('a', String.raw`\u0100`), 2],
  ['colours of a terminal', texts('\u001b[31m\u001b[0m'), 1],
  ['escapes of HTML', texts('a').replace('a', String.raw`\u003cb\u003e\u00ff`), 1],
  ['an escape after such escapes', texts('a').replace('a', String.raw`\u003c\\\u2028`), 2],
  ['source code that has escapes', texts(String.raw`'\u2028'`), 1],
  ['such a character at its end', `${texts('a')}Ā`, 2],
])('a text of %s weighs what V8 needs for it', (_, text, factor) => {
  const bytes = Buffer.from(text);
  expect(computeTextMemory(bytes)).toBe(factor * bytes.length);
  // At any alignment.
  for (const shift of [1, 2, 3]) {
    const shifted = Buffer.from(`${' '.repeat(shift)}${text}`).subarray(shift);
    expect(computeTextMemory(shifted)).toBe(factor * bytes.length);
  }
});

it('an image beside a character outside of Latin-1 weighs once, because it is not decoded', () => {
  const bytes = Buffer.from(JSON.stringify(['Ā', base64]));
  expect(computeTextMemory(bytes)).toBe(2 * bytes.length - base64.length);
});

it('a short text weighs as many bytes as it has', () => {
  const bytes = Buffer.from('Ā'.repeat(10_000));
  expect(computeTextMemory(bytes)).toBe(bytes.length);
});
