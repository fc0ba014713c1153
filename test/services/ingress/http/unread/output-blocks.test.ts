import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { blockBytes, OutputBlocks } from '#services/ingress/http/unread/output-blocks.ts';

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

it('the memory of a burst is released when none of it was in use for ten seconds', () => {
  const blocks = new OutputBlocks();
  const [last, ...others] = takeAll(blocks, 40) as [Buffer, ...Buffer[]];
  for (const block of others) blocks.release(block);
  vi.advanceTimersByTime(20_000);
  expect(last.length).toBe(blockBytes);
  blocks.release(last);
  vi.advanceTimersByTime(9_000);
  expect(last.length).toBe(blockBytes);
  vi.advanceTimersByTime(2_000);
  expect(last.length).toBe(0);
  expect(blocks.take().length).toBe(blockBytes);
});

it('the memory of a burst goes back to the system', async () => {
  // A process of its own: other tests take memory in this one.
  const script = `
    import { mock } from 'node:test';
    import { blockBytes, OutputBlocks } from '#services/ingress/http/unread/output-blocks.ts';
    mock.timers.enable({ apis: ['setTimeout'] });
    const blocks = new OutputBlocks();
    const taken = Array.from({ length: (40 * 1024 * 1024) / blockBytes }, () => blocks.take().fill('x'));
    const filled = process.memoryUsage().rss;
    for (const block of taken) blocks.release(block);
    mock.timers.tick(11_000);
    console.log(filled - process.memoryUsage().rss);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  expect(Number(stdout)).toBeGreaterThan(30 * 1024 * 1024);
});

it('the blocks that ordinary traffic uses stay', () => {
  const blocks = new OutputBlocks();
  const taken = takeAll(blocks, 1);
  for (const block of taken) blocks.release(block);
  vi.advanceTimersByTime(60_000);
  expect(taken.every(({ length }) => length === blockBytes)).toBe(true);
});
