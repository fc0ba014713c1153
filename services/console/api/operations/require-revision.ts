import type { Request } from 'express';
import { stale } from '../api-failure.ts';

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
