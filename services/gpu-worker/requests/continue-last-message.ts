import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * A last message of the assistant's own, without tool calls, is the beginning of the answer. vLLM and SGLang go on with it
 * only when they are told to; what the client said about it stays.
 */
export function continueLastMessage(request: JsonObject): JsonObject {
  const last = Array.isArray(request.messages) ? request.messages.at(-1) : undefined;
  if (!isJsonObject(last) || last.role !== 'assistant' || last.tool_calls !== undefined) return request;
  return { continue_final_message: true, add_generation_prompt: false, ...request };
}
