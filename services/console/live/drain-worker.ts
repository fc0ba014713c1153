import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds after the request in which a worker must announce its new state. */
const answerMs = 3_000;

const pollMs = 20;

/** Drains or undrains a worker and waits until it announces the new state. Returns undefined when it does not do so in time. */
export async function drainWorker(
  broker: Broker,
  workers: LiveWorkers,
  id: string,
  command: 'drain' | 'undrain',
): Promise<LiveWorker | undefined> {
  const address = workers.get(id)?.address;
  if (!address) return undefined;
  broker.publish(broker.subjects.drain(address), command);
  const deadline = performance.now() + answerMs;
  while (performance.now() < deadline) {
    const worker = workers.get(id);
    if (worker && (worker.announcement.draining ?? false) === (command === 'drain')) return worker;
    await sleep(pollMs);
  }
  return undefined;
}
