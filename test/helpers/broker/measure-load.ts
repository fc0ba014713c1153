import { setTimeout as sleep } from 'node:timers/promises';
import type { TestIngress } from './broker-parties.ts';
import type { Step } from './scripted-handler.ts';

/** Results of the jobs of a load that began after its warm-up. */
export interface LoadResult {
  jobs: number;
  failed: number;
  /** Jobs that were granted to more than one worker. */
  moved: number;
  /** Milliseconds from dispatch to end of the served jobs, sorted. */
  ms: number[];
}

/**
 * Makes several clients send jobs, each one after the other.
 * @param pauseMs pause of a client between two jobs
 * @param warmUpMs jobs that begin earlier do not count
 * @param atLeast minimum number of jobs, in case the time is too short on a busy machine
 */
export async function measureLoad(
  { send }: TestIngress,
  steps: Step[],
  {
    clients,
    pauseMs,
    warmUpMs,
    ms,
    atLeast = 0,
  }: { clients: number; pauseMs: number; warmUpMs: number; ms: number; atLeast?: number },
): Promise<LoadResult> {
  const result: LoadResult = { jobs: 0, failed: 0, moved: 0, ms: [] };
  const beganAt = performance.now();
  const client = async (number: number): Promise<void> => {
    // Clients do not all begin at once.
    await sleep((pauseMs * number) / clients);
    while (performance.now() - beganAt < warmUpMs + ms || result.jobs < atLeast) {
      const counts = performance.now() - beganAt >= warmUpMs;
      const { state, attempts, queuedAt, endedAt } = await send({ steps }).finished;
      if (counts) {
        result.jobs += 1;
        if (state !== 'done') result.failed += 1;
        else result.ms.push(endedAt - queuedAt);
        if (attempts > 1) result.moved += 1;
      }
      await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  result.ms.sort((a, b) => a - b);
  return result;
}

/** Returns the share of jobs that failed, or took more than 1.2 times as long as the 99th percentile of healthy ones. */
export function sufferingShare({ jobs, failed, ms }: LoadResult, healthy: LoadResult): number {
  const bound = 1.2 * (healthy.ms[Math.floor(healthy.ms.length * 0.99)] ?? 0);
  return (failed + ms.filter((each) => each > bound).length) / jobs;
}
