import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds after the request in which a worker must announce its new state. */
const announceMs = 3_000;

const pollMs = 20;

/** Drains or undrains a worker, and waits until it announces the new state. Returns undefined if no announcement comes in time. */
export async function drainWorker(
  broker: Broker,
  workers: LiveWorkers,
  id: string,
  command: 'drain' | 'undrain',
): Promise<LiveWorker | undefined> {
  const address = workers.get(id)?.address;
  if (!address) return undefined;
  broker.publish(broker.subjects.drain(address), command);
  const deadline = performance.now() + announceMs;
  while (performance.now() < deadline) {
    const worker = workers.get(id);
    if (worker && (worker.announcement.draining ?? false) === (command === 'drain')) return worker;
    await sleep(pollMs);
  }
  return undefined;
}
