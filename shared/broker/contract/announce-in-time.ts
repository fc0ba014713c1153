import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds until which the broker must have an announcement. */
const timeoutMs = 1_000;

/**
 * Announces a change that is stored already: who misses the announcement finds the change later. Never throws.
 * @returns why the broker does not have it in time; undefined when it does
 */
export async function announceInTime(announcing: Promise<void>): Promise<unknown> {
  const late = sleep(timeoutMs, undefined, { ref: false }).then(() => new Error('the broker does not answer'));
  return Promise.race([announcing, late]).catch((error: unknown) => error);
}
