import type { Request } from 'express';
import { stale } from '../api-failure.ts';

/**
 * Checks the `If-Match` of a change by name against the resource with that name. With `If-Match`, a resource that does not exist is not
 * created.
 * @param found the resource; undefined: none has this name
 * @throws ApiFailure 412
 */
export function requireRevision(
  found: { revision?: number | undefined } | undefined,
  { request, ifRevision }: { request: Request; ifRevision: number | undefined },
): void {
  if (request.get('if-match') === undefined) return;
  if (!found || (ifRevision !== undefined && ifRevision !== (found.revision ?? 0))) throw stale();
}
