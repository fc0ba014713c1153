import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { blockBytes, OutputBlocks } from '#services/ingress/http/unread/output-blocks.ts';
import { until } from '../../../../helpers/until.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** As many blocks as take so many mebibytes, each filled. */
function takeAll(blocks: OutputBlocks, mebibytes: number): Buffer[] {
  return Array.from({ length: (mebibytes * 1024 * 1024) / blockBytes }, () => blocks.take().fill('x'));
}

it('fills blocks again and again, and none that is in use', () => {
  const blocks = new OutputBlocks();
  const first = takeAll(blocks, 1);
  const [given] = first as [Buffer];
  blocks.give(given);
  expect(blocks.take()).toBe(given);
  expect(new Set([...first, ...takeAll(blocks, 40)]).size).toBe((41 * 1024 * 1024) / blockBytes);
});

it('the memory of a flood goes back when none of it was in use for ten seconds', async () => {
  const blocks = new OutputBlocks();
  const taken = takeAll(blocks, 40);
  const filled = process.memoryUsage().rss;
  const [last, ...others] = taken as [Buffer, ...Buffer[]];
  for (const block of others) blocks.give(block);
  vi.advanceTimersByTime(20_000);
  expect(last.length).toBe(blockBytes);
  blocks.give(last);
  vi.advanceTimersByTime(9_000);
  expect(last.length).toBe(blockBytes);
  vi.advanceTimersByTime(2_000);
  expect(last.length).toBe(0);
  vi.useRealTimers();
  // Some systems count a process's memory now and then only.
  await until(() => filled - process.memoryUsage().rss > 30 * 1024 * 1024);
  expect(blocks.take().length).toBe(blockBytes);
});

it('what ordinary traffic uses stays', () => {
  const blocks = new OutputBlocks();
  const taken = takeAll(blocks, 1);
  for (const block of taken) blocks.give(block);
  vi.advanceTimersByTime(60_000);
  expect(taken.every(({ length }) => length === blockBytes)).toBe(true);
});
