import type { Response } from 'express';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/reserve.ts';

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
