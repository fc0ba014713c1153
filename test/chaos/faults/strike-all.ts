import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import { inject, type Crowds, type Struck } from './inject.ts';
import type { Fault } from './schedule.ts';

/** Among the faults of these, one begins only when the previous one has ended. */
const stores = ['nats', 'redis'];

/**
 * Causes each fault of a schedule at its time, until the signal, and resolves when the last one is undone.
 * @throws the first Error of a fault that could not be caused or undone; no further fault begins after it
 */
export async function strikeAll(
  cluster: ChaosCluster,
  crowds: Crowds,
  schedule: readonly Fault[],
  signal?: AbortSignal,
): Promise<Struck[]> {
  const begun = performance.now();
  const striking: Promise<Struck | undefined>[] = [];
  const lastOf = new Map<string, Promise<unknown>>();
  let failure: Error | undefined;
  for (const fault of schedule) {
    const waitMs = Math.max(0, begun + fault.at - performance.now());
    await sleep(waitMs, undefined, signal && { signal }).catch(() => undefined);
    if (failure || signal?.aborted) break;
    // NATS and Redis take longer to recover than the fault lasts.
    const store = stores.find((name) => fault.name.startsWith(name));
    const before = Promise.resolve(store && lastOf.get(store));
    const made = before.then(() => (signal?.aborted ? undefined : inject(cluster, crowds, fault)));
    const ended = made.catch((error: Error) => {
      failure ??= error;
    });
    if (store) lastOf.set(store, ended);
    striking.push(made);
  }
  return (await Promise.all(striking)).filter((struck) => struck !== undefined);
}
