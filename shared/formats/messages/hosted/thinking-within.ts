import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { MessagesRequest } from '../request.ts';

/** The format's least budget of thinking, in tokens (Anthropic API guide, "Extended thinking"). */
const leastBudget = 1024;

/**
 * The fields about thinking of a later turn, for which only so many output tokens are left. Upstreams refuse a budget that is not
 * below the limit: one that would not be keeps its share of the limit, and below the least budget the model no longer thinks. A
 * budget that fits stays as it is, because a change empties the prompt cache; so does one above the client's own limit, which only
 * upstreams that take it are asked with.
 * @param left output tokens
 */
export function thinkingWithin(request: MessagesRequest, left: number): Partial<MessagesRequest> {
  const { thinking, max_tokens: limit = 0, context_management: management } = request;
  const { type, budget_tokens: budget } = thinking ?? {};
  if (type !== 'enabled' || typeof budget !== 'number' || budget < left || budget >= limit) return {};
  const share = Math.floor((budget * left) / limit);
  if (share >= leastBudget) return { thinking: { ...thinking, type, budget_tokens: share } };
  return { thinking: { type: 'disabled' }, ...withoutClearing(management) };
}

/** Upstreams refuse an edit that clears thinking where the model does not think. */
function withoutClearing(management: unknown): JsonObject {
  if (!isJsonObject(management) || !Array.isArray(management['edits'])) return {};
  const edits = management['edits'].filter((edit) => !isJsonObject(edit) || !clearsThinking(edit));
  return { context_management: { ...management, edits } };
}

function clearsThinking({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('clear_thinking');
}
