import { setTimeout as sleep } from 'node:timers/promises';

// Saved before fake timers replace it.
const now = performance.now.bind(performance);
const pauseMs = 20;

/**
 * Repeats a check until it neither throws nor returns false. This is how tests and their helpers wait.
 * @param ms milliseconds until it gives up, and rejects with the last error of the check, or with the check's source
 */
export async function until(check: () => Promise<boolean | void> | boolean | void, ms = 30_000): Promise<void> {
  const isFalse = new Error(`Still false after ${ms} ms: ${check.toString()}`);
  Error.captureStackTrace(isFalse, until);
  const begun = now();
  for (;;) {
    const asked = now();
    let failure: unknown = isFalse;
    try {
      if ((await check()) !== false) return;
    } catch (error) {
      failure = error;
    }
    if (now() - begun >= ms) throw failure;
    // A slow check, such as a command, must not take a whole core.
    await sleep(Math.max(pauseMs, now() - asked));
  }
}
