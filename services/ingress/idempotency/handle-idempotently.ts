import type { RequestHandler } from 'express';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import type { IdempotencyParts } from './idempotency-parts.ts';
import { KeyedRequest, type AnsweringHandler, type KeyedRoute } from './keyed-request.ts';

/** Wraps a handler of a format's route with `handleIdempotently`; see `KeyedRoute`. By default, executions continue without the client. */
export type HandleKeyed = (
  format: AnswerFormat,
  body: KeyedRoute['body'],
  handler: AnsweringHandler,
  isUncancelled?: boolean,
) => RequestHandler;

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
