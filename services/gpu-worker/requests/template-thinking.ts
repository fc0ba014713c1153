import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * Switches thinking on or off in the model's chat template. Templates read one of two names: `enable_thinking` (Qwen,
 * GLM and most others) or `thinking` (DeepSeek, Granite). What the client set itself stays.
 */
export function templateThinking(request: JsonObject, on: boolean): JsonObject {
  const kwargs = isJsonObject(request.chat_template_kwargs) ? request.chat_template_kwargs : {};
  return { ...request, chat_template_kwargs: { enable_thinking: on, thinking: on, ...kwargs } };
}
