import type { CliProcess } from './cli-process.ts';

/**
 * Waits for something of a process's, which is killed when the signal aborts, so that the wait ends.
 * @throws what the wait throws, and the signal's reason
 */
export async function killOnAbort<T>(process: CliProcess, signal: AbortSignal, wait: () => Promise<T>): Promise<T> {
  const kill = (): void => process.kill();
  signal.addEventListener('abort', kill, { once: true });
  try {
    if (signal.aborted) kill();
    return await wait();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}
