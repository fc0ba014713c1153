import type { Response } from 'express';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import type { RequestOrigin } from '#shared/serving/caller.ts';
import { requestIdOf } from './request-id.ts';
import { identityOf } from './require-key.ts';
import { traceOf } from './trace-request.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/caller.ts';

/** Cancels a request when its client goes. What is over already is left as it is. */
export function cancelWithClient(running: RunningRequest | undefined, response: Response): RunningRequest | undefined {
  if (!running) return undefined;
  if (response.destroyed) running.cancel();
  else response.on('close', running.cancel);
  return running;
}

/** Who sent a request and how it is known. Only behind `requireKey`. */
export function originOf(response: Response): RequestOrigin {
  return { requestId: requestIdOf(response), identity: identityOf(response), trace: traceOf(response) };
}

/** An HTTP client as the one who waits for an answer: how much of its limits is left goes into the response's headers. */
export function callerOf(response: Response, format: Pick<AnswerFormat, 'limitHeaders'>): Caller {
  return {
    onStanding: (standing) => {
      if (response.headersSent) return;
      for (const [name, value] of Object.entries(format.limitHeaders(standing))) response.setHeader(name, value);
    },
    isGone: () => response.destroyed,
  };
}
