import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds within which the broker must accept a signal. */
const timeoutMs = 1_000;

/**
 * Waits until the broker has accepted the signal about a stored change (see `change-signals.ts`), for at most a second. A process that
 * misses the signal sees the change when it next reads the store. Never throws.
 * @param announcing resolves when the broker has accepted the signal
 * @returns the error because of which the broker has not accepted the signal in time; undefined if it has
 */
export async function announceInTime(announcing: Promise<void>): Promise<unknown> {
  const timeout = sleep(timeoutMs, undefined, { ref: false }).then(() => new Error('the broker does not answer'));
  return Promise.race([announcing, timeout]).catch((error: unknown) => error);
}
