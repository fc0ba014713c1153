import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '#shared/core/fair-queue.ts';
import { toSiteNetwork } from './address-groups.ts';
import type { PasswordStrengthResult, PasswordStrengthInput } from './password-strength-worker.ts';

/** Maximum milliseconds for one password, including the time to load the dictionaries. */
const maxCheckMs = 20_000;

/** Milliseconds without a check after which the thread ends, and gives its memory back. */
const keptMs = 30_000;

/** Checks one password at a time, because a check takes a core for up to a second. */
const checkQueue = new FairQueue({ concurrency: 1, waitingPerOwner: 4, waiting: 32 });

/** The thread of the last check, with 60 MB of dictionaries: to load them takes ten times as long as the check of an ordinary password. */
let keptThread: Worker | undefined;
let endTimer: NodeJS.Timeout | undefined;

/**
 * Estimates how hard a password is to guess, with dictionaries, keyboard patterns, dates, repetitions and the person's own data. A separate
 * thread makes the estimate, because it takes up to a second, and this thread must relay streams meanwhile.
 * @param address the client's address; the queue serves addresses in rotation
 * @param personTexts the person's name and e-mail address
 * @returns undefined for a password that is strong enough, else a sentence on its weakness
 * @throws QueueFullError; the error of the thread
 */
export function checkPasswordStrength(
  address: string,
  password: string,
  personTexts: readonly string[],
): Promise<string | undefined> {
  return checkQueue.run(toSiteNetwork(address), async () => {
    clearTimeout(endTimer);
    const thread = (keptThread ??= startThread());
    const input: PasswordStrengthInput = { password, personTexts };
    thread.ref();
    thread.postMessage(input, []);
    try {
      const [{ weakness }] = (await once(thread, 'message', { signal: AbortSignal.timeout(maxCheckMs) })) as [
        PasswordStrengthResult,
      ];
      thread.unref();
      endTimer = setTimeout(() => void endThread(thread), keptMs).unref();
      return weakness;
    } catch (error) {
      await endThread(thread);
      throw error;
    }
  });
}

function startThread(): Worker {
  const thread = new Worker(new URL('password-strength-worker.ts', import.meta.url));
  // Without a listener, a thread that ends without a check would end the process.
  thread.on('error', () => void endThread(thread));
  return thread;
}

async function endThread(thread: Worker): Promise<void> {
  if (keptThread === thread) keptThread = undefined;
  await thread.terminate();
}
