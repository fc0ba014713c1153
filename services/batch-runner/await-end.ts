import type { RunningRequest } from '#shared/serving/run-job.ts';

/**
 * Waits until a request has ended and is recorded. Cancels the request if the signal aborts.
 * @param end promise of the end of the request; never settles if the request is cancelled
 * @returns the end of the request; undefined if the request was cancelled
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
