import { afterAll, beforeAll } from 'vitest';

/**
 * Starts something for the tests of the file, or of the suite, in which it is called, and stops or closes it after them, where it can be.
 * What it returns is what was started, in these tests and in hooks that are added after it.
 * @param timeoutMs of the start; default: that of all hooks
 */
export function useStarted<Started extends object>(start: () => Promise<Started>, timeoutMs?: number): Started {
  const here: { stop?: () => unknown; close?: () => unknown } = {};
  beforeAll(async () => {
    // What it counts is read anew each time.
    Object.defineProperties(here, Object.getOwnPropertyDescriptors(await start()));
  }, timeoutMs);
  afterAll(async () => {
    await (here.stop ?? here.close)?.();
  });
  return here as Started;
}
