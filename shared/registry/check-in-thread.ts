import { runInThread } from '#shared/core/run-in-thread.ts';
import type { CheckedRegistry, RegistryInput } from './check-registry.ts';

/**
 * Runs `checkRegistry` in a separate thread, because YAML of 256 KiB takes a second, which would delay the streams of this thread.
 * @throws the error with which the thread failed
 */
export function checkInThread(input: RegistryInput): Promise<CheckedRegistry> {
  return runInThread<CheckedRegistry>(new URL('check-thread.ts', import.meta.url), input);
}
