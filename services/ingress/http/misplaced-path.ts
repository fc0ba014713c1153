import type { RequestHandler } from 'express';
import { RouterError } from '#shared/core/errors.ts';

/** An API, as far as it matters for paths. */
export interface PlacedApi {
  /** Where its paths are: `/api/<segment>`. */
  base: string;
  /** Paths of its formats below a prefix, such as `/chat/completions`. */
  paths: readonly string[];
}

/**
 * Refuses a path of an API without the API's base, as it is asked for with a base URL that is too short, and says what is missing.
 * Mount it at a prefix of the APIs, such as `/v1`.
 */
export function misplacedPath(api: PlacedApi): RequestHandler {
  return (request, _response, next) => {
    if (!api.paths.some((path) => request.path === path)) return next();
    const path = `${request.baseUrl}${request.path}`;
    throw new RouterError(
      'not_found',
      `There is no ${request.method} ${path} here, but there is ${api.base}${path}: add ${api.base} to the base URL.`,
    );
  };
}
