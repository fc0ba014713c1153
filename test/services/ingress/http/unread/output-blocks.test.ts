import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { blockBytes, OutputBlocks } from '#services/ingress/http/unread/output-blocks.ts';
import { least } from '../../../../helpers/least.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Takes blocks of this many mebibytes in total, and fills each. */
function takeAll(blocks: OutputBlocks, mebibytes: number): Buffer[] {
  return Array.from({ length: (mebibytes * 1024 * 1024) / blockBytes }, () => blocks.take().fill('x'));
}

it('output blocks are reused, but never while they are in use', () => {
  const blocks = new OutputBlocks();
  const first = takeAll(blocks, 1);
  const [given] = first as [Buffer];
  blocks.release(given);
  expect(blocks.take()).toBe(given);
  expect(new Set([...first, ...takeAll(blocks, 40)]).size).toBe((41 * 1024 * 1024) / blockBytes);
});

it('the memory of a burst is released when none of it was in use for ten seconds', async () => {
  // Other tests in this process take memory meanwhile, and some systems update a process's memory only now and then.
  const grownBytes = async (): Promise<number> => {
    vi.useFakeTimers();
    const blocks = new OutputBlocks();
    const taken = takeAll(blocks, 40);
    const filled = process.memoryUsage().rss;
    const [last, ...others] = taken as [Buffer, ...Buffer[]];
    for (const block of others) blocks.release(block);
    vi.advanceTimersByTime(20_000);
    expect(last.length).toBe(blockBytes);
    blocks.release(last);
    vi.advanceTimersByTime(9_000);
    expect(last.length).toBe(blockBytes);
    vi.advanceTimersByTime(2_000);
    expect(last.length).toBe(0);
    expect(blocks.take().length).toBe(blockBytes);
    vi.useRealTimers();
    return least(async () => (await sleep(100), process.memoryUsage().rss - filled), -released, 20);
  };
  const released = 30 * 1024 * 1024;
  expect(await least(grownBytes, -released)).toBeLessThan(-released);
});

it('the blocks that ordinary traffic uses stay', () => {
  const blocks = new OutputBlocks();
  const taken = takeAll(blocks, 1);
  for (const block of taken) blocks.release(block);
  vi.advanceTimersByTime(60_000);
  expect(taken.every(({ length }) => length === blockBytes)).toBe(true);
});
