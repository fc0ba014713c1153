import { expect, it } from 'vitest';
import { formatUnits } from '#services/console/web/parts/format.ts';

it.each([
  [{}, undefined],
  [{ images: 0, seconds: 0, characters: 0 }, undefined],
  [{ images: 1 }, '1 image'],
  [{ images: 1200, seconds: 90, characters: 17 }, '1,200 images, 90 s of sound, 17 characters spoken'],
  [{ searches: 1 }, '1 web search'],
  [{ searches: 4 }, '4 web searches'],
])('units besides tokens are written in words: %j', (used, words) => {
  expect(formatUnits(used)).toBe(words);
});
