import { describe, expect, it } from 'vitest';
import { runInTurns } from '#shared/broker/dispatch/run-in-turns.ts';
import { WaitingJobReviewer } from '#shared/broker/dispatch/waiting-job-reviewer.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import { until } from '../../../helpers/until.ts';

/** Keeps the process busy. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('work in slices', () => {
  it('lets the event loop continue after a few milliseconds', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const items = Array.from({ length: 60 }, (_, at) => at);
    const done: number[] = [];
    const tookMs = await runInTurns(
      items,
      (item) => {
        work(1);
        done.push(item);
      },
      () => false,
    );
    clearInterval(timer);
    expect(done).toEqual(items);
    expect(tookMs).toBeGreaterThan(59);
    expect(turns).toBeGreaterThan(8);
  });

  it('stops when `isOver` returns true', async () => {
    const done: number[] = [];
    await runInTurns(
      [1, 2, 3],
      (item) => done.push(item),
      () => done.length === 2,
    );
    expect(done).toEqual([1, 2]);
  });
});

it('a look at waiting jobs serves all changes of a moment, and is followed by a pause of nine times its duration', async () => {
  const jobs = Array.from({ length: 50 }, () => ({ state: 'queued' }) as Job);
  jobs.push({ state: 'streaming' } as Job);
  let looked = 0;
  const starts: number[] = [];
  const looks = new WaitingJobReviewer(
    () => jobs,
    () => {
      if (looked % 50 === 0) starts.push(performance.now());
      looked += 1;
      work(0.4);
    },
  );
  for (let change = 0; change < 1_000; change += 1) looks.schedule();
  await until(() => looked === 50);
  looks.schedule();
  await until(() => looked === 100);
  expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(180);
  looks.schedule();
  looks.close();
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect(looked).toBe(100);
});
