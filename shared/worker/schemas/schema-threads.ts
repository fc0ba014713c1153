import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SchemaOutcome, SchemaTask } from './schema-thread.ts';

const maxThreads = 2;

/** Milliseconds between two measurements of a check's CPU time. */
const lookMs = 500;
/** Number of measurements after which a check is stopped. */
const maxLooks = 40;
/** Microseconds of CPU time after the first measurement at which a check is stopped. */
const maxCore = 1_500_000;

const maxHeapMb = 96;

export class CostlySchemaError extends Error {
  override name = 'CostlySchemaError';
}

/** Threads that check values against untrusted schemas. They are started with the first check, and do not keep the process alive. */
export class SchemaThreads {
  readonly #idle: Worker[] = [];
  readonly #waiting: (() => void)[] = [];
  #free = maxThreads;

  /**
   * Waits for a free thread and runs a task in it.
   * @throws CostlySchemaError
   */
  async run(task: SchemaTask): Promise<SchemaOutcome> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      const thread = this.#idle.pop() ?? (await startThread());
      const outcome = await runTask(thread, task);
      this.#idle.push(thread);
      return outcome;
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
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
  const late = new AbortController();
  const watch = watchCore(thread, () => late.abort());
  thread.ref();
  thread.postMessage(task, []);
  try {
    const [outcome] = (await once(thread, 'message', { signal: late.signal })) as [SchemaOutcome];
    thread.unref();
    return outcome;
  } catch (error) {
    void thread.terminate();
    throw new CostlySchemaError('The check against the JSON schema takes too long or too much memory.', {
      cause: error,
    });
  } finally {
    clearInterval(watch);
  }
}

/** Calls `onLate` when a thread has used too much CPU time. CPU time counts because on a busy machine a cheap check waits for a core. */
function watchCore(thread: Worker, onLate: () => void): NodeJS.Timeout {
  let begun: number | undefined;
  let looks = 0;
  const look = async (): Promise<void> => {
    looks += 1;
    const { user } = await thread.cpuUsage();
    begun ??= user;
    if (user - begun >= maxCore || looks >= maxLooks) onLate();
  };
  return setInterval(() => void look().catch(onLate), lookMs);
}
