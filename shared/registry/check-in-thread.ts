import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CheckedRegistry, RegistryInput } from './check-registry.ts';

/** Milliseconds for a check, the loading of the parser included. */
const longestMs = 20_000;

/**
 * Checks a registry as `checkRegistry` does, in a thread of its own: YAML of 256 KiB takes a second, and this thread has streams to
 * relay.
 * @throws what the thread failed with
 */
export async function checkInThread(input: RegistryInput): Promise<CheckedRegistry> {
  const worker = new Worker(new URL('check-thread.ts', import.meta.url), { workerData: input });
  try {
    const [checked] = (await once(worker, 'message', { signal: AbortSignal.timeout(longestMs) })) as [CheckedRegistry];
    return checked;
  } finally {
    await worker.terminate();
  }
}
