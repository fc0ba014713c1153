import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { MessagesRequest } from '../request.ts';

/** The format's minimum thinking budget, in tokens (Anthropic API guide, "Extended thinking"). */
const minBudget = 1024;

/**
 * Returns the changed thinking fields of a later turn. Upstreams refuse a budget that is not below the limit of output tokens. A budget
 * that is too large therefore shrinks in proportion to the limit. If the result is below the minimum budget, thinking is switched off. A
 * budget that fits stays, because a change empties the prompt cache. A budget above the client's own limit also stays, because only
 * upstreams that accept it get such requests.
 * @param tokensLeft output tokens that remain for the turn
 */
export function fitThinkingToTokens(request: MessagesRequest, tokensLeft: number): Partial<MessagesRequest> {
  const { thinking, max_tokens: limit = 0, context_management: management } = request;
  const { type, budget_tokens: budget } = thinking ?? {};
  if (type !== 'enabled' || typeof budget !== 'number' || budget < tokensLeft || budget >= limit) return {};
  const reducedBudget = Math.floor((budget * tokensLeft) / limit);
  if (reducedBudget >= minBudget) return { thinking: { ...thinking, type, budget_tokens: reducedBudget } };
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
