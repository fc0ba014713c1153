import { Router } from 'express';
import { ApiFailure } from '../api-failure.ts';
import { toExpressPath } from './mount-operations.ts';
import type { Operation } from './operation.ts';

/**
 * Creates the middleware that refuses changes with `If-Match` on routes that are not operations, because these routes would ignore the
 * header. Each operation decides itself whether it accepts `If-Match`.
 */
export function refuseIfMatch(operations: readonly Pick<Operation, 'method' | 'path'>[]): Router {
  const routes = Router({ caseSensitive: true, strict: true });
  for (const operation of operations)
    routes[operation.method](toExpressPath(operation), (_request, _response, next) => next('router'));
  routes.use(({ method, headers }, _response, next) => {
    if (headers['if-match'] !== undefined && method !== 'GET' && method !== 'HEAD')
      throw new ApiFailure(400, 'invalid_request', 'This request takes no If-Match, which would be ignored.');
    next();
  });
  return routes;
}
