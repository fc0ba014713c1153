import { setTimeout as pause } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';

/** Milliseconds for which a result is kept while Redis or the object store is away, and between two calls of `record`. */
const maxOutageMs = 60_000;
const againMs = 500;

/**
 * Records or stores a result, and repeats the call while the store is away: an answer that took minutes must not be lost to a restart of
 * the store.
 * @param record is called again after a call whose answer was lost. That call may have recorded the result: then `record` returns the same
 * value again
 * @throws the errors of `record`: at once if the store refuses, after a minute if it is away
 */
export async function recordThroughOutage<T>(record: () => Promise<T>, stopping: AbortSignal): Promise<T> {
  const deadline = performance.now() + maxOutageMs;
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
