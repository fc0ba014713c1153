import { expect, it } from 'vitest';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { noUsage } from '#shared/core/usage.ts';
import { ModelSpeeds } from '#services/console/live/model-speeds.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

const pool = livePool({ tier: 'gpu', pool: 'p' }, [{ id: 'w' }]);
const [worker] = pool.workers;

function answer(model: string, queuedAt: number, firstMs: number, streamedMs: number, completionTokens: number) {
  const firstByteAt = queuedAt + firstMs;
  const attempt = worker && { worker, placement: { pool, model } };
  const end = { usage: { ...noUsage, completionTokens } };
  return { attempt, queuedAt, firstByteAt, endedAt: firstByteAt + streamedMs, end } as unknown as JobReport;
}

it('the speed of a model is the median of its last streamed answers, for an hour', () => {
  const times = new ModelSpeeds();
  times.add(answer('demo', 0, 100, 1_000, 50));
  times.add(answer('demo', 0, 300, 1_000, 150));
  times.add(answer('demo', 0, 200, 2_000, 200));
  // An answer that came at once, and an answer without tokens.
  times.add(answer('demo', 0, 900, 10, 500));
  times.add(answer('demo', 0, 900, 1_000, 0));
  expect(times.find('gpu', 'demo', 2_500)).toEqual({ firstTokenMs: 200, tokensPerSecond: 100, answers: 3 });
  expect(times.find('cloud', 'demo', 2_500)).toBeUndefined();
  for (let count = 0; count < 60; count += 1) times.add(answer('demo', 10_000, 10, 1_000, 10));
  expect(times.find('gpu', 'demo', 12_000)).toEqual({ firstTokenMs: 10, tokensPerSecond: 10, answers: 50 });
  expect(times.find('gpu', 'demo', 4_000_000)).toBeUndefined();
});
