import { expect, it } from 'vitest';
import { sliceJob } from '#shared/background/batch-jobs.ts';

/** The batches in the order in which their slices are worked on, by their first letters. */
function order(batches: Record<string, { slices: number; ofOwner: number }>): string {
  return Object.entries(batches)
    .flatMap(([id, { slices, ofOwner }]) =>
      Array.from({ length: slices }, (_, slice) => sliceJob(id, slice, { ofOwner })),
    )
    .toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0))
    .map(({ id }) => id.slice(0, 1))
    .join('');
}

it('batches of different owners progress alike, also one that is much longer', () => {
  expect(order({ a: { slices: 6, ofOwner: 1 }, b: { slices: 2, ofOwner: 1 } })).toBe('ababaaaa');
});

it('several batches of one owner progress together as one of another owner does', () => {
  const owners = { a: { slices: 4, ofOwner: 1 }, b: { slices: 2, ofOwner: 2 }, c: { slices: 2, ofOwner: 2 } };
  expect(order(owners)).toBe('aabcaabc');
});

it('a stream of short batches does not hold back a long one, and need not wait for its end', () => {
  const jobs = (id: string, slices: number, next = 0) =>
    Array.from({ length: slices }, (_, slice) => sliceJob(id, slice, { ofOwner: 1, next }));
  const waiting = jobs('long', 20);
  const done: string[] = [];
  const isLongOver = (): boolean => !waiting.some(({ data }) => data.batch === 'long');
  while (!isLongOver() && done.length < 200) {
    // For each slice that is done, a new short batch begins.
    waiting.sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
    done.push(waiting.shift()?.data.batch ?? '');
    waiting.push(...jobs(`short-${done.length}`, 1, waiting[0]?.priority));
  }
  expect(done.indexOf('short-1')).toBeLessThanOrEqual(3);
  expect(isLongOver()).toBe(true);
});
