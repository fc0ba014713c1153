import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** How much a request wants the model to think; every engine says it differently. */
export interface ThinkingRequest {
  on: boolean;
  /** In words that every engine knows. */
  effort?: 'low' | 'medium' | 'high' | undefined;
  /** Tokens of thinking at most. */
  budget?: number | undefined;
}

/**
 * Takes the wish out of the request, in whichever dialect it is said: `reasoning_effort`, `reasoning.effort` or
 * `.enabled`, `thinking.type` with `budget_tokens`, or `chat_template_kwargs.enable_thinking` / `.thinking`. The first that
 * is understood counts, and takes the others with it; those of the template stay, as every engine with templates reads
 * them. What nobody understands stays for the engine.
 */
export function takeThinkingRequest(request: JsonObject): { rest: JsonObject; wish: ThinkingRequest | undefined } {
  const wish =
    wishOfEffort(request.reasoning_effort) ?? wishOfReasoning(request.reasoning) ?? wishOfThinking(request.thinking);
  if (wish === undefined) return { rest: request, wish: wishOfTemplate(request.chat_template_kwargs) };
  const { reasoning_effort: _effort, reasoning: _reasoning, thinking: _thinking, ...rest } = request;
  return { rest, wish };
}

/**
 * The levels of both formats, cut down to the three that every engine and template knows. A number is SGLang's, from 0
 * to 1.
 */
function wishOfEffort(effort: Json | undefined): ThinkingRequest | undefined {
  if (typeof effort === 'number') {
    if (effort <= 0) return { on: false };
    return { on: true, effort: effort < 0.34 ? 'low' : effort < 0.67 ? 'medium' : 'high' };
  }
  switch (effort) {
    case 'none':
      return { on: false };
    case 'minimal':
    case 'low':
      return { on: true, effort: 'low' };
    case 'medium':
      return { on: true, effort: 'medium' };
    case 'high':
    case 'xhigh':
    case 'max':
      return { on: true, effort: 'high' };
    default:
      return undefined;
  }
}

function wishOfReasoning(reasoning: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(reasoning)) return undefined;
  const { effort, enabled } = reasoning;
  return wishOfEffort(effort) ?? (typeof enabled === 'boolean' ? { on: enabled } : undefined);
}

function wishOfThinking(thinking: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(thinking)) return undefined;
  switch (thinking.type) {
    case 'disabled':
      return { on: false };
    case 'adaptive':
      return { on: true };
    case 'enabled': {
      const budget = thinking.budget_tokens;
      return typeof budget === 'number' ? { on: true, budget, effort: effortOfBudget(budget) } : { on: true };
    }
    default:
      return undefined;
  }
}

function wishOfTemplate(kwargs: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(kwargs)) return undefined;
  const on = kwargs.enable_thinking ?? kwargs.thinking;
  return typeof on === 'boolean' ? { on } : undefined;
}

function effortOfBudget(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens <= 2048) return 'low';
  return tokens <= 8192 ? 'medium' : 'high';
}
