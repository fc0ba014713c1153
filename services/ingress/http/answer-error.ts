import type { ErrorRequestHandler, NextFunction, Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import { asRouterError, refuse } from './refuse.ts';
import { requestIdOf } from './request-id.ts';
import { traceError } from '#shared/serving/record-request.ts';
import { traceOf } from './trace-request.ts';

export interface AnswerErrorParts {
  log: Logger;
  countRefusal: (format: string, error: RouterError) => void;
}

/** The last handler of a format's routes: whatever was thrown is answered in that format's format. */
export function answerError(format: AnswerFormat, { log, countRefusal }: AnswerErrorParts): ErrorRequestHandler {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const told = asRouterError(error);
    const requestId = requestIdOf(response);
    const trace = traceOf(response);
    traceError(trace, told);
    const traceId = trace?.traceId;
    const { method } = request;
    const path = loggablePath(request);
    if (told.code === 'internal')
      log.error({ err: told.cause, requestId, traceId, method, path }, 'request failed unexpectedly');
    else log.info({ requestId, traceId, method, path, code: told.code }, 'request refused');
    countRefusal(format.name, told);
    if (response.headersSent) next(error);
    else refuse(response, format, told, requestId);
  };
}

/** The path, without the token of a one-time link. */
function loggablePath({ baseUrl, path }: Request): string {
  return `${baseUrl}${path}`.replace(/^\/link\/.*/s, '/link/…');
}

/** Behind a path's allowed methods, which the answer names as RFC 9110 asks for. */
export function wrongMethod(...allowed: string[]) {
  return (request: Request, response: Response): never => {
    response.setHeader('allow', allowed.join(', '));
    throw new RouterError('method_not_allowed', `${request.method} is not allowed here.`);
  };
}

/** Behind all paths. */
export function unknownPath(request: Request): never {
  throw new RouterError('not_found', `There is no ${request.method} ${request.path} here.`);
}
