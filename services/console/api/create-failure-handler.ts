import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { UnconfirmedError } from '#shared/accounts/sign-in/confirmation.ts';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { providerAway } from '../contract/sign-in.ts';
import { ApiFailure } from './api-failure.ts';

/** Creates the error handler of the API, which logs an error and answers it as JSON. */
export function createFailureHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const failure = toApiFailure(error);
    // The path is not logged, because it may contain the token of a link.
    const facts = { requestId: response.getHeader('x-request-id'), method: request.method, code: failure.code };
    if (failure.status >= 500) log.error({ ...facts, err: error }, 'the console failed');
    else log.info(facts, 'the console refused a request');
    if (response.headersSent) return next(error);
    if (failure.retryAfter !== undefined) response.setHeader('retry-after', String(failure.retryAfter));
    const { code, message, field } = failure;
    response.status(failure.status).json({ error: { code, message, ...(field === undefined ? {} : { field }) } });
  };
}

function toApiFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (error instanceof RouterError) {
    const { message, param, retryAfter } = error;
    const code = error instanceof UnconfirmedError ? providerAway : error.code;
    const details = {
      ...(param === undefined ? {} : { field: param }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
    return new ApiFailure(errorTable[error.code].status, code, message, details);
  }
  // Express's own errors, such as for a body that is not JSON, carry a status. The answer leaves out their messages, which quote the
  // request.
  if (error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500) {
    return error.status === 413
      ? new ApiFailure(413, 'body_too_large', 'The request is too large.')
      : new ApiFailure(400, 'invalid_request', 'The request could not be understood.');
  }
  return new ApiFailure(500, 'internal', 'The router failed. Its log says why.');
}
