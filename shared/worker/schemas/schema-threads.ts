import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '#shared/core/fair-queue.ts';
import type { SchemaOutcome, SchemaTask } from './schema-thread.ts';

const maxThreads = 2;

/** Milliseconds between two measurements of a check's CPU time. */
const measureIntervalMs = 500;
/** Maximum measurements of a check. A check that runs longer is stopped. */
const maxMeasurements = 40;
/** Maximum microseconds of CPU time that a check may use after its first measurement. A check that uses more is stopped. */
const maxCpuMicroseconds = 1_500_000;

/** Maximum megabytes of a thread's heap. */
const maxHeapMb = 96;

/** Thrown for a check against a schema that takes too much CPU time or memory. */
export class CostlySchemaError extends Error {
  override name = 'CostlySchemaError';
}

/**
 * Threads that check values against untrusted schemas. They are started with the first check, and do not keep the process alive. The owners
 * of checks have turns.
 */
export class SchemaThreads {
  readonly #idleThreads: Worker[] = [];
  /** The slots of the worker bound the number of tasks. */
  readonly #queue = new FairQueue({ concurrency: maxThreads, waitingPerOwner: Infinity, waiting: Infinity });

  /**
   * Waits for the owner's turn and runs a task in a thread.
   * @throws CostlySchemaError if the task takes too much CPU time or memory
   */
  run(task: SchemaTask, owner: string): Promise<SchemaOutcome> {
    return this.#queue.run(owner, async () => {
      const thread = this.#idleThreads.pop() ?? (await startThread());
      const outcome = await runTask(thread, task);
      this.#idleThreads.push(thread);
      return outcome;
    });
  }
}

async function startThread(): Promise<Worker> {
  const thread = new Worker(new URL('schema-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  // Without a listener, a thread that ends without a task would end the process.
  thread.on('error', () => undefined);
  await once(thread, 'online');
  return thread;
}

async function runTask(thread: Worker, task: SchemaTask): Promise<SchemaOutcome> {
  const overtime = new AbortController();
  const cpuTimer = watchCpuTime(thread, () => overtime.abort());
  thread.ref();
  thread.postMessage(task, []);
  try {
    const [outcome] = (await once(thread, 'message', { signal: overtime.signal })) as [SchemaOutcome];
    thread.unref();
    return outcome;
  } catch (error) {
    void thread.terminate();
    throw new CostlySchemaError('The check against the JSON schema takes too long or too much memory.', {
      cause: error,
    });
  } finally {
    clearInterval(cpuTimer);
  }
}

/**
 * Calls `onOvertime` when a thread has used too much CPU time. Elapsed time does not count, because on a busy machine a cheap check waits
 * for a core.
 */
function watchCpuTime(thread: Worker, onOvertime: () => void): NodeJS.Timeout {
  let firstUserTime: number | undefined;
  let measurements = 0;
  const measure = async (): Promise<void> => {
    measurements += 1;
    const { user } = await thread.cpuUsage();
    firstUserTime ??= user;
    if (user - firstUserTime >= maxCpuMicroseconds || measurements >= maxMeasurements) onOvertime();
  };
  return setInterval(() => void measure().catch(onOvertime), measureIntervalMs);
}
