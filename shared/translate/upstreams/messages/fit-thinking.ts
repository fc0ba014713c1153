import type { ThinkingRequest } from '../../vocabulary/thinking.ts';
import { budgetOfEffort, effortOfBudget } from '../../vocabulary/thinking.ts';
import type { Target } from '../../translation.ts';

/** The least budget of thinking that the messages format takes, in tokens. It has to be below `max_tokens`. */
const leastBudget = 1024;

/** Limit of output tokens if the client sets none, without thinking: the messages format requires one. */
const defaultMaxTokens = 8192;

/** Thinking that a model takes, and the limit of output tokens, which counts the thinking. */
export interface FittedThinking {
  thinking: ThinkingRequest | undefined;
  /** Undefined where the upstream has a limit of its own and the client sets none. */
  maxTokens: number | undefined;
}

/**
 * Fits thinking to what the model takes (an effort, a budget, or none), and a budget to the limit of output tokens.
 * @param limit of output tokens that the client has set
 */
export function fitThinking(
  asked: ThinkingRequest | undefined,
  limit: number | null | undefined,
  { thinkingTypes, limitsItself, maxOutput = Infinity }: Pick<Target, 'thinkingTypes' | 'limitsItself' | 'maxOutput'>,
): FittedThinking {
  const thinking = asked && inTypeOf(thinkingTypes, asked);
  const limitBeside = (budget: number): number | undefined =>
    limit ?? (limitsItself ? undefined : Math.min(maxOutput, defaultMaxTokens + budget));
  const budget = thinking?.thinking['budget_tokens'];
  if (!thinking || thinking.thinking.type !== 'enabled' || typeof budget !== 'number') {
    return { thinking, maxTokens: limitBeside(0) };
  }
  const maxTokens = limitBeside(budget);
  const most = (maxTokens ?? Infinity) - 1;
  if (most < leastBudget) return { thinking: { thinking: { type: 'disabled' } }, maxTokens };
  const fitted = Math.max(leastBudget, Math.min(budget, most));
  return { thinking: { thinking: { ...thinking.thinking, budget_tokens: fitted } }, maxTokens };
}

function inTypeOf(types: Target['thinkingTypes'], asked: ThinkingRequest): ThinkingRequest | undefined {
  if (types?.length === 0 && asked.thinking.type !== 'disabled') return undefined;
  const { type, budget_tokens: budget, ...rest } = asked.thinking;
  if (type === 'adaptive' && types?.includes('adaptive') === false) {
    return { thinking: { ...rest, type: 'enabled', budget_tokens: budgetOfEffort(asked.effort) } };
  }
  if (type === 'enabled' && typeof budget === 'number' && types?.includes('enabled') === false) {
    return { thinking: { ...rest, type: 'adaptive' }, effort: effortOfBudget(budget) };
  }
  return asked;
}
