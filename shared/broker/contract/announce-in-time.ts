import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds within which the broker must accept a signal. */
const timeoutMs = 1_000;

/**
 * Waits up to a second for the broker to accept the signal about a stored change (see `change-signals.ts`). A process that misses the
 * signal sees the change when it next reads the store. Never throws.
 * @returns why the broker has not accepted the signal in time; undefined if it has
 */
export async function announceInTime(announcing: Promise<void>): Promise<unknown> {
  const late = sleep(timeoutMs, undefined, { ref: false }).then(() => new Error('the broker does not answer'));
  return Promise.race([announcing, late]).catch((error: unknown) => error);
}
