import { runInThread } from '#shared/core/run-in-thread.ts';
import type { CheckedRegistry, RegistryInput } from './check-registry.ts';

/**
 * Checks a registry as `checkRegistry` does, in a thread of its own: YAML of 256 KiB takes a second, and this thread has streams to
 * relay.
 * @throws what the thread failed with
 */
export function checkInThread(input: RegistryInput): Promise<CheckedRegistry> {
  return runInThread<CheckedRegistry>(new URL('check-thread.ts', import.meta.url), input);
}
