import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { MessagesRequest } from '../request.ts';

/** The format's minimum thinking budget, in tokens (Anthropic API guide, "Extended thinking"). */
const minBudget = 1024;

/**
 * Returns the thinking fields of a later turn, for which only `left` output tokens remain. Upstreams refuse a budget that is not below the
 * limit. A budget that is too large therefore shrinks in proportion to the limit, and thinking is off below the minimum budget. A budget
 * that fits stays, because a change empties the prompt cache. A budget above the client's own limit also stays, because such requests go
 * only to upstreams that accept it.
 * @param tokensLeft output tokens
 */
export function fitThinkingToTokens(request: MessagesRequest, tokensLeft: number): Partial<MessagesRequest> {
  const { thinking, max_tokens: limit = 0, context_management: management } = request;
  const { type, budget_tokens: budget } = thinking ?? {};
  if (type !== 'enabled' || typeof budget !== 'number' || budget < tokensLeft || budget >= limit) return {};
  const share = Math.floor((budget * tokensLeft) / limit);
  if (share >= minBudget) return { thinking: { ...thinking, type, budget_tokens: share } };
  return { thinking: { type: 'disabled' }, ...removeClearing(management) };
}

/** Removes edits that clear thinking, because upstreams refuse such edits while thinking is off. */
function removeClearing(management: unknown): JsonObject {
  if (!isJsonObject(management) || !Array.isArray(management['edits'])) return {};
  const edits = management['edits'].filter((edit) => !isJsonObject(edit) || !clearsThinking(edit));
  return { context_management: { ...management, edits } };
}

function clearsThinking({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('clear_thinking');
}
