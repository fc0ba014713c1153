import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Adaptation } from '../providers/provider.ts';

/**
 * A wish to think, cut down to what the model takes: none for a model that does not think, which would refuse it, and no
 * level that only the newest models of two vendors know.
 */
export const limitedEffort: Adaptation = {
  words: '`reasoning_effort` up to `high`, and only for models that think',
  apply: (request: JsonObject, { capabilities }: ModelInfo) => limitEffort(request, capabilities.includes('thinking')),
};

/** @param takesEffort whether the model takes any */
export function limitEffort(request: JsonObject, takesEffort: boolean): JsonObject {
  const { reasoning_effort: effort, ...rest } = request;
  if (!takesEffort || effort === undefined || effort === null) return rest;
  return { ...rest, reasoning_effort: effort === 'xhigh' || effort === 'max' ? 'high' : effort };
}
