import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import { asRouterError, refuse } from './refuse.ts';
import { getRequestContext } from './request-context.ts';
import { traceError } from '#shared/serving/record-request.ts';
import { InvalidKeyError, type RefusedKey } from '#shared/accounts/keys/invalid-key-error.ts';
import type { Refusal } from '#shared/accounts/ledger/refusals/refusal-sampler.ts';

export interface AnswerErrorParts {
  log: Logger;
  countRefusal: CountRefusal;
}

/**
 * Creates the error handler of a format's routes. The handler logs, traces and counts each thrown error, and answers with it in that
 * format.
 */
export function createErrorHandler(format: AnswerFormat, { log, countRefusal }: AnswerErrorParts): ErrorRequestHandler {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const refusal = asRouterError(error);
    const { requestId, trace, reply } = getRequestContext(response);
    traceError(trace, refusal);
    const traceId = trace?.traceId;
    const { method } = request;
    const path = loggablePath(request);
    if (refusal.code === 'internal')
      log.error({ err: refusal.cause, requestId, traceId, method, path }, 'request failed unexpectedly');
    else log.info({ requestId, traceId, method, path, code: refusal.code }, 'request refused');
    countRefusal(describeRefusal(response, format.name, refusal));
    if (response.headersSent) next(error);
    else if (reply) reply.fail(refusal);
    else refuse(response, format, refusal, requestId);
  };
}

/** Returns the path for the log, without the token of a one-time link. */
function loggablePath({ baseUrl, path }: Request): string {
  return `${baseUrl}${path}`.replace(/^\/link\/.*/s, '/link/…');
}

/**
 * Creates a handler that refuses the remaining methods of a path. Mount it after the routes of the path. The header `Allow` lists the
 * supported methods (RFC 9110, 15.5.6).
 */
export function refuseMethod(...allowed: string[]) {
  return (request: Request, response: Response): never => {
    response.setHeader('allow', allowed.join(', '));
    throw new RouterError('method_not_allowed', `${request.method} is not allowed here.`);
  };
}

/** Refuses a path that has no route. Mount it last. */
export function refuseUnknownPath(request: Request): never {
  throw new RouterError('not_found', `There is no ${request.method} ${request.baseUrl}${request.path} here.`);
}

/** A request that was refused before any worker got it, and the name of the format in which it was refused. */
export interface RefusedRequest extends Refusal {
  format: string;
}

export type CountRefusal = (refused: RefusedRequest) => void;

/** Returns what the metrics count for a request that ends with this error. */
export function describeRefusal(response: Response, format: string, error: RouterError): RefusedRequest {
  const { requestId, sender, requestedName } = getRequestContext(response);
  return { format, requestId, error, key: sender ?? findRefusedKey(error), asked: requestedName };
}

function findRefusedKey(error: RouterError): RefusedKey | undefined {
  const refusal = [error, error.cause].find((each) => each instanceof InvalidKeyError);
  return refusal?.key;
}
