import { afterAll, beforeAll } from 'vitest';

/**
 * Starts something for the tests of the file, or of the suite, in which it is called, and ends it after them. What it returns is what was
 * started, in these tests and in hooks that are added after it.
 * @param timeoutMs of the start; default: that of all hooks
 */
export function useStarted<Started extends { stop: () => unknown } | { close: () => unknown }>(
  start: () => Promise<Started>,
  timeoutMs?: number,
): Started {
  const here: Partial<Started> = {};
  let started: Started | undefined;
  beforeAll(async () => {
    started = await start();
    // What it counts is read anew each time.
    Object.defineProperties(here, Object.getOwnPropertyDescriptors(started));
  }, timeoutMs);
  afterAll(async () => {
    if (started) await ('stop' in started ? started.stop() : started.close());
  });
  return here as Started;
}
