import type { RequestHandler } from 'express';
import type { IdempotencyParts } from './idempotency-parts.ts';
import { KeyedRequest, type AnsweringHandler, type KeyedRoute } from './keyed-request.ts';

/** Wraps a handler so that it serves requests with an idempotency key. */
export type KeyedHandler = (body: KeyedRoute['body'], handler: AnsweringHandler) => RequestHandler;

/**
 * Executes a request with an `Idempotency-Key` once. Further requests with the key get the same answer
 * (docs/decisions/0037-idempotency-keys.md). Requests without the header go straight to the handler. Mount it behind `requireKey`.
 */
export function handleIdempotently(
  handler: AnsweringHandler,
  route: KeyedRoute,
  parts: IdempotencyParts,
): RequestHandler {
  // A request without a key costs only one check of its headers, and no promise.
  return (request, response, next) =>
    request.headers['idempotency-key'] === undefined
      ? handler(request, response)
      : new KeyedRequest(request, response, route, parts).serve(handler, next);
}
