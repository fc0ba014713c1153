import type { Response } from 'express';
import type { RunningRequest } from '#shared/serving/run-job.ts';

/** Cancels a request when its client goes. What is over already is left as it is. */
export function cancelWithClient(running: RunningRequest | undefined, response: Response): RunningRequest | undefined {
  if (!running) return undefined;
  if (response.destroyed) running.cancel();
  else response.on('close', running.cancel);
  return running;
}
