import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FinishedReplies } from '#shared/broker/worker/finished-replies.ts';
import type { ReplyWriter } from '#shared/broker/worker/reply-writer.ts';

/** Answers of a mebibyte each that have just ended, and that no dispatcher confirms. */
function keep(count: number) {
  const finished = new FinishedReplies();
  const writers = Array.from({ length: count }, () => {
    const writer = { keptBytes: 1024 * 1024, dropConfirmed: () => false, dropAll: () => void (writer.keptBytes = 0) };
    return writer;
  });
  for (const [at, writer] of writers.entries()) finished.add(`g${at}`, writer as unknown as ReplyWriter);
  const keptOnes = () => writers.flatMap((_, at) => (finished.get(`g${at}`) ? [at] : []));
  return { finished, writers, keptOnes };
}

describe('answers that have just ended', () => {
  it('are kept in 64 MiB: beyond it the oldest are dropped first, and release their frames', () => {
    const { writers, keptOnes } = keep(200);
    // Each takes a little besides its frames.
    const newest = Array.from({ length: 63 }, (_, at) => 137 + at);
    expect(keptOnes()).toEqual(newest);
    expect(writers.flatMap(({ keptBytes }, at) => (keptBytes > 0 ? [at] : []))).toEqual(newest);
  });

  it('are kept for a minute at most', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { finished, keptOnes } = keep(3);
    const keptAfter = (ms: number): number[] => {
      vi.advanceTimersByTime(ms);
      finished.dropOld(performance.now());
      return keptOnes();
    };
    expect([keptAfter(60_000), keptAfter(1)]).toEqual([[0, 1, 2], []]);
  });
});
