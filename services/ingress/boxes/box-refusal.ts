import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { getRequestContext } from '../http/request-context.ts';

/** A refusal of a box, with the status and the code of the answer. */
export class BoxRefusal extends Error {
  override name = 'BoxRefusal';
  readonly status: number;
  readonly code: string;
  /** Seconds for the header `retry-after`. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Creates the error handler that answers every thrown error as `{ error: { code, message } }`. */
export function answerBoxRefusal(log: Logger): ErrorRequestHandler {
  return (thrown: unknown, _request: Request, response: Response, next: NextFunction): void => {
    const { status, code, message, retryAfter } = asBoxRefusal(thrown);
    const facts = { requestId: getRequestContext(response).requestId, code };
    if (status >= 500) log.error({ ...facts, err: thrown }, 'a request of a box failed');
    else log.info(facts, 'a box was refused');
    if (response.headersSent) return next(thrown);
    if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
    response.status(status).json({ error: { code, message } });
  };
}

function asBoxRefusal(thrown: unknown): BoxRefusal {
  if (thrown instanceof BoxRefusal) return thrown;
  if (thrown instanceof RouterError)
    return new BoxRefusal(errorTable[thrown.code].status, thrown.code, thrown.message, thrown.retryAfter);
  // The errors of Express have a status, for example the error for a body that is not JSON.
  if (thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' && thrown.status < 500)
    return thrown.status === 413
      ? new BoxRefusal(413, 'body_too_large', 'The request is too large.')
      : new BoxRefusal(400, 'invalid_request', 'The request could not be understood.');
  return new BoxRefusal(500, 'internal', 'The router failed. Its log says why.');
}
