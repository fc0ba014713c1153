import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds within which the broker must have taken an announcement. */
const timeoutMs = 1_000;

/**
 * Waits up to a second for the announcement of a stored change. A process that misses the announcement finds the change later. Never
 * throws.
 * @returns why the broker has not taken the announcement in time; undefined if it has
 */
export async function announceInTime(announcing: Promise<void>): Promise<unknown> {
  const late = sleep(timeoutMs, undefined, { ref: false }).then(() => new Error('the broker does not answer'));
  return Promise.race([announcing, late]).catch((error: unknown) => error);
}
