import { expect, it } from 'vitest';
import { triedAgainAt } from '#shared/formats/batches/batch-format.ts';

it('a batch that waits is tried again when its pause ends, which is not told once it has, nor of one that lacks a worker', () => {
  expect(triedAgainAt({ pausedUntil: 7_000 }, 6_999)).toBe(7_000);
  expect(triedAgainAt({ pausedUntil: 7_000 }, 7_000)).toBeUndefined();
  expect(triedAgainAt({ pausedUntil: 7_000, lacksWorker: true }, 6_000)).toBeUndefined();
  expect(triedAgainAt({}, 6_000)).toBeUndefined();
});
