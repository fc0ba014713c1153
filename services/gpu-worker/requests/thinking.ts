import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { budgetToEffort, shareToEffort, type CommonEffort } from '#shared/translate/vocabulary/thinking.ts';

/** The amount of thinking that a request asks for. Every engine has its own fields for it. */
export interface ThinkingRequest {
  isOn: boolean;
  effort?: CommonEffort | undefined;
  /** Maximum number of tokens of thinking. */
  budget?: number | undefined;
}

/**
 * Removes the fields about thinking from a request and returns their meaning. The fields are `reasoning_effort`, `reasoning` with `effort`,
 * `max_tokens` or `enabled`, `thinking` with `type` and `budget_tokens`, and `chat_template_kwargs` with `enable_thinking` or `thinking`.
 * The first field with a known value counts, and all fields except `chat_template_kwargs` are removed. If no field has a known value, all
 * fields stay in the request, for the engine to judge.
 */
export function takeThinking(request: JsonObject): { rest: JsonObject; thinking: ThinkingRequest | undefined } {
  const thinking =
    readEffort(request.reasoning_effort) ?? readReasoning(request.reasoning) ?? readThinkingType(request.thinking);
  if (thinking === undefined) return { rest: request, thinking: readTemplateSettings(request.chat_template_kwargs) };
  const { reasoning_effort: _effort, reasoning: _reasoning, thinking: _thinking, ...rest } = request;
  return { rest, thinking };
}

/**
 * Switches thinking on or off in the model's chat template. Templates read either `enable_thinking` (Qwen, GLM and most others) or
 * `thinking` (DeepSeek, Granite). The client's own settings take precedence.
 */
export function setTemplateThinking(request: JsonObject, isOn: boolean): JsonObject {
  const kwargs = isJsonObject(request.chat_template_kwargs) ? request.chat_template_kwargs : {};
  return { ...request, chat_template_kwargs: { enable_thinking: isOn, thinking: isOn, ...kwargs } };
}

/** Reduces the effort levels of all formats to three. SGLang also accepts numbers from 0 to 1. */
function readEffort(effort: Json | undefined): ThinkingRequest | undefined {
  if (typeof effort === 'number') {
    return effort <= 0 ? { isOn: false } : { isOn: true, effort: shareToEffort(effort) };
  }
  switch (effort) {
    case 'none':
      return { isOn: false };
    case 'minimal':
    case 'low':
      return { isOn: true, effort: 'low' };
    case 'medium':
      return { isOn: true, effort: 'medium' };
    case 'high':
    case 'xhigh':
    case 'max':
      return { isOn: true, effort: 'high' };
    default:
      return undefined;
  }
}

function readReasoning(reasoning: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(reasoning)) return undefined;
  const { effort, enabled, max_tokens: budget } = reasoning;
  const fromEffort = readEffort(effort);
  if (fromEffort) return fromEffort;
  if (typeof budget === 'number')
    return budget > 0 ? { isOn: true, budget, effort: budgetToEffort(budget) } : { isOn: false };
  return typeof enabled === 'boolean' ? { isOn: enabled } : undefined;
}

function readThinkingType(thinking: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(thinking)) return undefined;
  switch (thinking.type) {
    case 'disabled':
      return { isOn: false };
    case 'adaptive':
      return { isOn: true };
    case 'enabled': {
      const budget = thinking.budget_tokens;
      return typeof budget === 'number' ? { isOn: true, budget, effort: budgetToEffort(budget) } : { isOn: true };
    }
    default:
      return undefined;
  }
}

function readTemplateSettings(kwargs: Json | undefined): ThinkingRequest | undefined {
  if (!isJsonObject(kwargs)) return undefined;
  const isOn = kwargs.enable_thinking ?? kwargs.thinking;
  return typeof isOn === 'boolean' ? { isOn } : undefined;
}
