import type { RequestHandler } from 'express';
import type { IdempotencyParts } from './idempotency-parts.ts';
import { KeyedRequest, type AnsweringHandler, type KeyedRoute } from './keyed-request.ts';

/** Makes a handler serve requests with an idempotency key. */
export type KeyedHandler = (body: KeyedRoute['body'], handler: AnsweringHandler) => RequestHandler;

/**
 * Has a request with an `Idempotency-Key` executed once: further ones with the key get its answer
 * (docs/decisions/0037-idempotency-keys.md). Requests without one go to the handler as they are. Mount it behind `requireKey`.
 */
export function idempotent(handler: AnsweringHandler, route: KeyedRoute, parts: IdempotencyParts): RequestHandler {
  // Those without a key pay for a look at their headers, not for a promise.
  return (request, response, next) =>
    request.headers['idempotency-key'] === undefined
      ? handler(request, response)
      : new KeyedRequest(request, response, route, parts).serve(handler, next);
}
