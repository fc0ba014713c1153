import type { Request, RequestHandler, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { SignInFailure } from '../../contract/sign-in.ts';
import { ApiFailure } from '../api-failure.ts';

/** Redirects to the sign-in page, which shows the reason. */
export function redirectToSignIn(response: Response, reason: SignInFailure): void {
  response.redirect(302, `/?sign-in=${reason}`);
}

/**
 * Creates a handler for addresses that people open in a browser. An error that `handle` throws redirects to the sign-in page, because
 * people cannot read the API's JSON.
 */
export function redirectOnError(
  log: Logger,
  handle: (request: Request, response: Response) => Promise<void>,
): RequestHandler<Record<string, string>> {
  return async (request, response, next) => {
    try {
      await handle(request, response);
    } catch (error) {
      if (response.headersSent) return next(error);
      const reason = toReason(error);
      const facts = { requestId: response.getHeader('x-request-id'), reason };
      if (reason === 'signed_out') log.info(facts, 'a sign-in at a provider was ended');
      else log.error({ ...facts, err: error }, 'a sign-in at a provider failed');
      redirectToSignIn(response, reason);
    }
  };
}

function toReason(error: unknown): SignInFailure {
  if (error instanceof RouterError && error.code === 'store_unavailable') return 'unavailable';
  return error instanceof ApiFailure && error.code === 'signed_out' ? 'signed_out' : 'failed';
}
