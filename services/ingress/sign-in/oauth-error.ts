import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { getRequestContext } from '../http/request-context.ts';

/** The `error` field of an answer: RFC 6749, section 5.2, and RFC 8628, section 3.5. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'authorization_pending'
  | 'slow_down'
  | 'access_denied'
  | 'expired_token'
  | 'temporarily_unavailable'
  | 'server_error';

export class OAuthError extends Error {
  override name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** Seconds for the header `retry-after`. */
  readonly retryAfter: number | undefined;

  constructor(
    code: OAuthErrorCode,
    message: string,
    { status = 400, retryAfter }: { status?: number; retryAfter?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Creates the error handler that answers every thrown error as `{ error, error_description }`. */
export function answerOAuthError(log: Logger): ErrorRequestHandler {
  return (thrown: unknown, _request: Request, response: Response, next: NextFunction): void => {
    const error = asOAuthError(thrown);
    const facts = { requestId: getRequestContext(response).requestId, code: error.code };
    if (error.code === 'server_error') log.error({ ...facts, err: thrown }, 'the sign-in of a program failed');
    else if (error.code !== 'authorization_pending') log.info(facts, 'the sign-in of a program was refused');
    if (response.headersSent) return next(thrown);
    if (error.retryAfter !== undefined) response.setHeader('retry-after', String(error.retryAfter));
    response.status(error.status).json({ error: error.code, error_description: error.message });
  };
}

function asOAuthError(thrown: unknown): OAuthError {
  if (thrown instanceof OAuthError) return thrown;
  if (thrown instanceof RouterError) {
    const { code, message, retryAfter = 2 } = thrown;
    if (code === 'invalid_request') return new OAuthError('invalid_request', message);
    if (code === 'rate_limit_exceeded') return new OAuthError('slow_down', message, { status: 429, retryAfter });
    return new OAuthError('temporarily_unavailable', message, { status: 503, retryAfter });
  }
  // The errors of Express have a status, for example the error for a form that is too large.
  if (thrown instanceof Error && 'status' in thrown && typeof thrown.status === 'number' && thrown.status < 500) {
    const { status } = thrown;
    const message = status === 413 ? 'The form is too large.' : 'The request could not be understood.';
    return new OAuthError('invalid_request', message, { status });
  }
  return new OAuthError('server_error', 'The router failed. Its log says why.', { status: 500 });
}
