import { type Request, Router } from 'express';
import { stale, ApiFailure } from '../api-failure.ts';
import { toExpressPath } from './mount-operations.ts';
import type { Operation } from './operation.ts';

/**
 * Checks the `If-Match` header of a change by name against the resource with that name.
 * @param current the resource; undefined if no resource has the name
 * @throws ApiFailure 412 for another revision, and for a resource that does not exist
 */
export function requireRevision(
  current: { revision?: number | undefined } | undefined,
  { request, ifRevision }: { request: Request; ifRevision: number | undefined },
): void {
  if (request.get('if-match') === undefined) return;
  if (!current || (ifRevision !== undefined && ifRevision !== (current.revision ?? 0))) throw stale();
}

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

/** Returns whether an object has all wanted values already. An absent value, null and `{}` count as the same. */
export function hasAllValues(current: object, wanted: object): boolean {
  const values = new Map<string, unknown>(Object.entries(current));
  return Object.entries(wanted).every(([name, value]) => toComparable(values.get(name)) === toComparable(value));
}

function toComparable(value: unknown): string {
  return JSON.stringify(value ?? {});
}
