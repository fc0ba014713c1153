import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../keys/fair-queue.ts';
import type { Judgement, PasswordToJudge } from './password-judge.ts';

/** Milliseconds for a judgement, the loading of its dictionaries included. */
const longestMs = 20_000;

/** One at a time: each takes a core for a second and 60 MB for as long. */
const queue = new FairQueue({ concurrency: 1, waitingPerOwner: 4, waiting: 32 });

/**
 * Judges how hard a password is to guess, by dictionaries, keyboards, dates and repetitions, and by what is known of its owner.
 * It runs in a thread of its own: it takes up to a second, and this thread has streams to relay.
 * @param owner who asks, to take turns by: the client's address
 * @param known the person's name and address
 * @returns undefined for one that is strong enough, else a sentence that says what is wrong with it
 * @throws QueueFullError, or what the thread failed with
 */
export function judgePassword(owner: string, password: string, known: readonly string[]): Promise<string | undefined> {
  return queue.run(owner, async () => {
    const workerData: PasswordToJudge = { password, known };
    const worker = new Worker(new URL('password-judge.ts', import.meta.url), { workerData });
    try {
      const [judgement] = (await once(worker, 'message', { signal: AbortSignal.timeout(longestMs) })) as [Judgement];
      return judgement.weakness;
    } finally {
      await worker.terminate();
    }
  });
}
