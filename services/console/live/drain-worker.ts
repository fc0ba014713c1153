import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds for a worker to obey. */
const obeyMs = 3_000;

const lookMs = 20;

/** Tells a worker to take nothing new, or to take jobs again, and waits until it says that it does. Undefined: it did not. */
export async function drainWorker(
  broker: Broker,
  workers: LiveWorkers,
  id: string,
  command: 'drain' | 'undrain',
): Promise<LiveWorker | undefined> {
  const address = workers.get(id)?.address;
  if (!address) return undefined;
  broker.publish(broker.subjects.drain(address), command);
  const deadline = performance.now() + obeyMs;
  while (performance.now() < deadline) {
    const worker = workers.get(id);
    if (worker && (worker.announcement.draining ?? false) === (command === 'drain')) return worker;
    await sleep(lookMs);
  }
  return undefined;
}
