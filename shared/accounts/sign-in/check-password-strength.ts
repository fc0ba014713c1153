import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../keys/fair-queue.ts';
import type { PasswordStrengthResult, PasswordStrengthInput } from './password-strength-worker.ts';

/** Maximum of milliseconds for one password, including the time to load the dictionaries. */
const maxCheckMs = 20_000;

/** Checks one password at a time, because each check takes a core for a second, and 60 MB meanwhile. */
const checkQueue = new FairQueue({ concurrency: 1, waitingPerOwner: 4, waiting: 32 });

/**
 * Estimates how hard a password is to guess, by dictionaries, keyboards, dates and repetitions, and by what is known of its owner. The
 * estimate is made in a separate thread, because it takes up to a second, and this thread has streams to relay.
 * @param owner the client's address; the queue serves addresses in rotation
 * @param known the person's name and e-mail address
 * @returns undefined for a password that is strong enough, else a sentence on its weakness
 * @throws QueueFullError, or the error of the thread
 */
export function checkPasswordStrength(
  owner: string,
  password: string,
  known: readonly string[],
): Promise<string | undefined> {
  return checkQueue.run(owner, async () => {
    const workerData: PasswordStrengthInput = { password, known };
    const worker = new Worker(new URL('password-strength-worker.ts', import.meta.url), { workerData });
    try {
      const [judgement] = (await once(worker, 'message', { signal: AbortSignal.timeout(maxCheckMs) })) as [
        PasswordStrengthResult,
      ];
      return judgement.weakness;
    } finally {
      await worker.terminate();
    }
  });
}
