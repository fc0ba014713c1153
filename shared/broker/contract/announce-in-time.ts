import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds within which the broker must accept a signal. */
const timeoutMs = 1_000;

/**
 * Waits at most a second until the broker has accepted the signal about a stored change (see `change-signals.ts`). A process that misses
 * the signal sees the change when it next reads the store. Never throws.
 * @param announcing resolves when the broker has accepted the signal
 * @returns undefined if the broker has accepted the signal in time, otherwise the error
 */
export async function announceInTime(announcing: Promise<void>): Promise<unknown> {
  const timeout = sleep(timeoutMs, undefined, { ref: false }).then(() => new Error('the broker does not answer'));
  return Promise.race([announcing, timeout]).catch((error: unknown) => error);
}
