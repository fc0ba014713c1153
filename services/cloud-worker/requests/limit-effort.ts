import type { JsonObject } from '#shared/core/json.ts';

/**
 * A wish to think, cut down to what the model takes: none for a model that does not think, which would refuse it, and no
 * level that only the newest models of two vendors know.
 */
export function limitEffort(request: JsonObject, thinks: boolean): JsonObject {
  const { reasoning_effort: effort, ...rest } = request;
  if (!thinks || effort === undefined || effort === null) return rest;
  return { ...rest, reasoning_effort: effort === 'xhigh' || effort === 'max' ? 'high' : effort };
}
