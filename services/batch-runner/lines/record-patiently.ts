import { setTimeout as pause } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';

/** Milliseconds for which a result is held while Redis or the store of objects is away, and between two attempts to record it. */
const patienceMs = 60_000;
const againMs = 500;

/**
 * Records or stores a result, trying again while the store is away: an answer that took minutes is not to be lost to a restart of it.
 * @param record called again when the answer of an earlier call was lost, which may have recorded the result: then it returns the same
 * @throws as `record` does, at once where the store is not away but refuses
 */
export async function recordPatiently<T>(record: () => Promise<T>, stopping: AbortSignal): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await record();
    } catch (error) {
      const isRefused = error instanceof RouterError && error.code !== 'store_unavailable';
      if (isRefused || stopping.aborted || performance.now() > deadline) throw error;
      await pause(againMs);
    }
  }
}
