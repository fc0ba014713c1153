import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '#shared/core/fair-queue.ts';
import { toSiteNetwork } from './address-groups.ts';
import type { PasswordStrengthResult, PasswordStrengthInput } from './password-strength-worker.ts';

/** Maximum milliseconds for one password, including the time to load the dictionaries. */
const maxCheckMs = 20_000;

/** Checks one password at a time, because a check takes a core and 60 MB for a second. */
const checkQueue = new FairQueue({ concurrency: 1, waitingPerOwner: 4, waiting: 32 });

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
    const workerData: PasswordStrengthInput = { password, personTexts };
    const worker = new Worker(new URL('password-strength-worker.ts', import.meta.url), { workerData });
    try {
      const [result] = (await once(worker, 'message', { signal: AbortSignal.timeout(maxCheckMs) })) as [
        PasswordStrengthResult,
      ];
      return result.weakness;
    } finally {
      await worker.terminate();
    }
  });
}
