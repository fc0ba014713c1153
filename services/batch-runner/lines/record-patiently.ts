import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds for which a result is held while Redis is away, and between two attempts to record it. */
const patienceMs = 60_000;
const againMs = 500;

/**
 * Records a result, trying again while Redis is away: an answer that took minutes is not to be lost to a restart of it.
 * @param record called again when the answer of an earlier call was lost, which may have recorded the result: then it returns true as well
 * @returns whether this result was recorded; false if there is another one
 */
export async function recordPatiently(record: () => Promise<boolean>, stopping: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await record();
    } catch (error) {
      if (stopping.aborted || performance.now() > deadline) throw error;
      await pause(againMs);
    }
  }
}
