import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** How much a request wants the model to think; every engine says it differently. */
export interface ThinkingWish {
  on: boolean;
  /** In words that every engine knows. */
  effort?: 'low' | 'medium' | 'high' | undefined;
  /** Tokens of thinking at most. */
  budget?: number | undefined;
}

/**
 * Takes the wish out of the request, in whichever dialect it is said: `reasoning_effort`, `reasoning.effort`,
 * `thinking.type` with `budget_tokens`, or `chat_template_kwargs.enable_thinking` / `.thinking`. The last stay where they
 * are, as every engine with templates reads them. The first that is there counts.
 */
export function takeThinkingWish(request: JsonObject): { rest: JsonObject; wish: ThinkingWish | undefined } {
  const { reasoning_effort: effort, reasoning, thinking, ...rest } = request;
  if (typeof effort === 'string') return { rest, wish: wishOfEffort(effort) };
  if (isJsonObject(reasoning) && typeof reasoning.effort === 'string') {
    return { rest, wish: wishOfEffort(reasoning.effort) };
  }
  if (isJsonObject(thinking) && typeof thinking.type === 'string') {
    if (thinking.type === 'disabled') return { rest, wish: { on: false } };
    const budget = typeof thinking.budget_tokens === 'number' ? thinking.budget_tokens : undefined;
    return { rest, wish: { on: true, budget, effort: budget === undefined ? undefined : effortOfBudget(budget) } };
  }
  const kwargs = rest.chat_template_kwargs;
  if (isJsonObject(kwargs)) {
    const on = kwargs.enable_thinking ?? kwargs.thinking;
    if (typeof on === 'boolean') return { rest, wish: { on } };
  }
  return { rest, wish: undefined };
}

/** The levels of both families, cut down to the three that every engine and template knows. */
function wishOfEffort(effort: string): ThinkingWish {
  switch (effort) {
    case 'none':
      return { on: false };
    case 'minimal':
    case 'low':
      return { on: true, effort: 'low' };
    case 'high':
    case 'xhigh':
    case 'max':
      return { on: true, effort: 'high' };
    default:
      return { on: true, effort: 'medium' };
  }
}

function effortOfBudget(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens <= 2048) return 'low';
  return tokens <= 8192 ? 'medium' : 'high';
}
