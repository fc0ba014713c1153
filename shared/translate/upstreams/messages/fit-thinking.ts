import type { ThinkingRequest } from '../../vocabulary/thinking.ts';
import { effortToBudget, budgetToEffort } from '../../vocabulary/thinking.ts';
import type { ModelTraits } from '../../translation.ts';

/** The format's minimum thinking budget, in tokens. A budget must be below `max_tokens`. */
const minBudget = 1024;

/** Limit of output tokens without the thinking, for a client that sets no limit. The `messages` format requires a limit. */
const defaultMaxTokens = 8192;

/** Thinking settings that a model accepts, and the limit of output tokens. The limit includes the thinking. */
export interface FittedThinking {
  thinking: ThinkingRequest | undefined;
  /** Undefined if the client sets no limit and the upstream has its own limits. */
  maxTokens: number | undefined;
}

/**
 * Converts thinking settings to a mode that the model accepts (an effort, a budget, or none). Fits a budget into the limit of output
 * tokens.
 * @param limit the client's limit of output tokens
 */
export function fitThinking(
  requested: ThinkingRequest | undefined,
  limit: number | null | undefined,
  {
    thinkingTypes,
    limitsItself,
    maxOutput = Infinity,
  }: Pick<ModelTraits, 'thinkingTypes' | 'limitsItself' | 'maxOutput'>,
): FittedThinking {
  const thinking = requested && convertThinkingType(thinkingTypes, requested);
  const computeMaxTokens = (budget: number): number | undefined =>
    limit ?? (limitsItself ? undefined : Math.min(maxOutput, defaultMaxTokens + budget));
  const budget = thinking?.thinking['budget_tokens'];
  if (!thinking || thinking.thinking.type !== 'enabled' || typeof budget !== 'number') {
    return { thinking, maxTokens: computeMaxTokens(0) };
  }
  const maxTokens = computeMaxTokens(budget);
  const maxBudget = (maxTokens ?? Infinity) - 1;
  if (maxBudget < minBudget) return { thinking: { thinking: { type: 'disabled' } }, maxTokens };
  const fitted = Math.max(minBudget, Math.min(budget, maxBudget));
  return { thinking: { thinking: { ...thinking.thinking, budget_tokens: fitted } }, maxTokens };
}

function convertThinkingType(
  types: ModelTraits['thinkingTypes'],
  requested: ThinkingRequest,
): ThinkingRequest | undefined {
  if (types?.length === 0 && requested.thinking.type !== 'disabled') return undefined;
  const { type, budget_tokens: budget, ...rest } = requested.thinking;
  if (type === 'adaptive' && types?.includes('adaptive') === false) {
    return { thinking: { ...rest, type: 'enabled', budget_tokens: effortToBudget(requested.effort) } };
  }
  if (type === 'enabled' && typeof budget === 'number' && types?.includes('enabled') === false) {
    return { thinking: { ...rest, type: 'adaptive' }, effort: budgetToEffort(budget) };
  }
  return requested;
}
