import type { Cluster } from '../cluster/start-cluster.ts';
import { until } from '../until.ts';
import { engineState } from './keyed-requests.ts';

/**
 * Returns the milliseconds from the abort of a request until the demo engine stops making its answer.
 * @param ask sends the request and reads its answer; may reject with the error of an abort, and with no other
 */
export async function timeAbort(
  cluster: Pick<Cluster, 'engineUrl'>,
  ask: (signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const before = await engineState(cluster);
  const controller = new AbortController();
  const ended = ask(controller.signal).catch((error: unknown) => {
    if (!(error instanceof Error && /abort/i.test(error.name + error.message))) throw error;
  });
  await until(async () => (await engineState(cluster)).active > before.active);
  controller.abort();
  const abortedAt = performance.now();
  await until(async () => (await engineState(cluster)).aborted > before.aborted);
  const stoppedAfterMs = performance.now() - abortedAt;
  await ended;
  return stoppedAfterMs;
}
