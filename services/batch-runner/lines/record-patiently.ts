import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds for which a result is held while Redis is away, and between two attempts to record it. */
const patienceMs = 60_000;
const againMs = 500;

/**
 * Records a result, trying again while Redis is away: an answer that took minutes is not to be lost to a restart of it. An attempt whose
 * answer was lost may have recorded it, so a result that is there then counts as recorded by this one.
 */
export async function recordPatiently(record: () => Promise<boolean>, stopping: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  for (let isAgain = false; ; isAgain = true) {
    try {
      return (await record()) || isAgain;
    } catch (error) {
      if (stopping.aborted || performance.now() > deadline) throw error;
      await pause(againMs);
    }
  }
}
