import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Maximum milliseconds of the work, including the time to load the code. */
const timeoutMs = 20_000;

/**
 * Runs a module in a thread of its own, for work that would block the streams that this thread relays.
 * @param module code that posts its answer as one message
 * @param task the `workerData` of the module
 * @returns the answer
 * @throws the error with which the thread failed, or AbortError after 20 seconds
 */
export async function runInThread<Answer>(module: URL, task: unknown): Promise<Answer> {
  const worker = new Worker(module, { workerData: task });
  try {
    const [answer] = (await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) })) as [Answer];
    return answer;
  } finally {
    await worker.terminate();
  }
}
