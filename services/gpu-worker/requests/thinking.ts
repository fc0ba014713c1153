import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** How much thinking a request asks for. Every engine has its own fields for this. */
export interface ThinkingRequest {
  on: boolean;
  /** One of the three levels that every engine supports. */
  effort?: 'low' | 'medium' | 'high' | undefined;
  /** Maximum number of tokens of thinking. */
  budget?: number | undefined;
}

/**
 * Removes the fields about thinking from a request and returns their meaning: `reasoning_effort`, `reasoning.effort`, `.max_tokens` or
 * `.enabled`, `thinking.type` with `budget_tokens`, or `chat_template_kwargs.enable_thinking` or `.thinking`. The first field with a known
 * value counts, and all fields but the template's settings are removed. If no field has a known value, all of them stay for the engine to
 * judge.
 */
export function takeThinkingRequest(request: JsonObject): { rest: JsonObject; thinking: ThinkingRequest | undefined } {
  const requested =
    thinkingOfEffort(request.reasoning_effort) ??
    thinkingOfReasoning(request.reasoning) ??
    thinkingOfType(request.thinking);
  if (requested === undefined) return { rest: request, thinking: thinkingOfTemplate(request.chat_template_kwargs) };
  const { reasoning_effort: _effort, reasoning: _reasoning, thinking: _thinking, ...rest } = request;
  return { rest, thinking: requested };
}

/**
 * Switches thinking on or off in the model's chat template. Templates read either `enable_thinking` (Qwen, GLM and most others) or
 * `thinking` (DeepSeek, Granite). Settings of the client stay.
 */
export function templateThinking(request: JsonObject, on: boolean): JsonObject {
  const kwargs = isJsonObject(request.chat_template_kwargs) ? request.chat_template_kwargs : {};
  return { ...request, chat_template_kwargs: { enable_thinking: on, thinking: on, ...kwargs } };
}

/** Reduces the levels of both formats to three. A number from 0 to 1 is SGLang's. */
function thinkingOfEffort(effort: Json | undefined): ThinkingRequest | undefined {
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

function thinkingOfReasoning(reasoning: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(reasoning)) return undefined;
  const { effort, enabled, max_tokens: budget } = reasoning;
  const requested = thinkingOfEffort(effort);
  if (requested) return requested;
  if (typeof budget === 'number')
    return budget > 0 ? { on: true, budget, effort: effortOfBudget(budget) } : { on: false };
  return typeof enabled === 'boolean' ? { on: enabled } : undefined;
}

function thinkingOfType(thinking: Json | undefined): ThinkingRequest | undefined {
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

function thinkingOfTemplate(kwargs: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(kwargs)) return undefined;
  const on = kwargs.enable_thinking ?? kwargs.thinking;
  return typeof on === 'boolean' ? { on } : undefined;
}

function effortOfBudget(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens <= 2048) return 'low';
  return tokens <= 8192 ? 'medium' : 'high';
}
