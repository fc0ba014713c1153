import { setTimeout as pause } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';

/** Milliseconds for which calls of `record` are repeated while Redis or the object store is unreachable. */
const maxOutageMs = 60_000;
/** Milliseconds between two calls of `record`. */
const retryMs = 500;

/**
 * Calls `record`, which records or stores a result. Repeats the call while the store is unreachable, because an answer that took minutes
 * must not be lost to a restart of the store.
 * @param record must be idempotent: if the store's reply is lost, `record` is called again although the result is recorded, and must return
 * the same value
 * @param stopping ends the repetition when it aborts
 * @throws the errors of `record`: at once if the store refuses, after a minute if the store is unreachable
 */
export async function recordThroughOutage<T>(record: () => Promise<T>, stopping: AbortSignal): Promise<T> {
  const deadline = performance.now() + maxOutageMs;
  for (;;) {
    try {
      return await record();
    } catch (error) {
      const isRefused = error instanceof RouterError && error.code !== 'store_unavailable';
      if (isRefused || stopping.aborted || performance.now() > deadline) throw error;
      await pause(retryMs);
    }
  }
}
