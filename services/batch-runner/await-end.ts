import type { RunningRequest } from '#shared/serving/run-job.ts';

/**
 * Waits until a request has ended and is recorded. Cancels it if the signal aborts.
 * @param end never settles if the request is cancelled
 * @returns how the request ended; undefined if it was cancelled
 */
export async function awaitEnd<End>(
  end: Promise<End>,
  { cancel, finished }: Pick<RunningRequest, 'cancel' | 'finished'>,
  signal: AbortSignal,
): Promise<End | undefined> {
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const cancelled = finished.then(() => (signal.aborted ? undefined : end));
    const ended = await Promise.race([end, cancelled]);
    await finished;
    return ended;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
