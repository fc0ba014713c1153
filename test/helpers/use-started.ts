import { afterAll, beforeAll } from 'vitest';

/**
 * Starts an object for the tests of the calling file or suite, and stops or closes it after them, if it can be. The returned object has its
 * fields in these tests, and in hooks that are added after it.
 * @param timeoutMs timeout of the start; default: that of all hooks
 */
export function useStarted<Started extends object>(start: () => Promise<Started>, timeoutMs?: number): Started {
  const here: { stop?: () => unknown; close?: () => unknown } = {};
  beforeAll(async () => {
    // Getters keep returning present values.
    Object.defineProperties(here, Object.getOwnPropertyDescriptors(await start()));
  }, timeoutMs);
  afterAll(async () => {
    await (here.stop ?? here.close)?.();
  });
  return here as Started;
}
