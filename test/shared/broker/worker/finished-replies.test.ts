import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FinishedReplies } from '#shared/broker/worker/finished-replies.ts';
import type { ReplyWriter } from '#shared/broker/worker/reply-writer.ts';

const mebibyte = 1024 * 1024;

/**
 * Answers of a mebibyte each that have just ended.
 * @param unconfirmedBytes bytes of each that remain when the dispatcher confirms frames; by default it confirms none
 */
function keep(count: number, unconfirmedBytes = mebibyte) {
  const finished = new FinishedReplies();
  const createWriter = () => {
    const writer = {
      keptBytes: mebibyte,
      dropConfirmed: () => {
        writer.keptBytes = unconfirmedBytes;
        return unconfirmedBytes === 0;
      },
      dropAll: () => void (writer.keptBytes = 0),
    };
    return writer;
  };
  const writers: ReturnType<typeof createWriter>[] = [];
  const add = (more: number): void => {
    for (let left = more; left > 0; left -= 1) {
      const writer = createWriter();
      finished.add(`g${writers.push(writer) - 1}`, writer as unknown as ReplyWriter);
    }
  };
  add(count);
  const keptOnes = () => writers.flatMap((_, at) => (finished.get(`g${at}`) ? [at] : []));
  return { finished, writers, add, keptOnes };
}

function useFakeClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
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
    useFakeClock();
    const { finished, keptOnes } = keep(3);
    const keptAfter = (ms: number): number[] => {
      vi.advanceTimersByTime(ms);
      finished.dropOld(performance.now());
      return keptOnes();
    };
    expect([keptAfter(60_000), keptAfter(1)]).toEqual([[0, 1, 2], []]);
  });

  it.each([
    ['all of their frames', 0, Array.from({ length: 62 }, (_, at) => 62 + at)],
    ['a part of their frames', mebibyte / 64, Array.from({ length: 124 }, (_, at) => at)],
  ])('make room for others when their dispatcher has got %s', (_, unconfirmedBytes, kept) => {
    useFakeClock();
    const { finished, add, keptOnes } = keep(62, unconfirmedBytes);
    vi.advanceTimersByTime(1_001);
    finished.dropOld(performance.now());
    add(62);
    expect(keptOnes()).toEqual(kept);
  });
});
