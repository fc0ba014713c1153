import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Expresses a request in the fields that llama.cpp reads, and with it Ollama and LM Studio, which are built on it. */
export function llamaCppFields(request: JsonObject): JsonObject {
  return requireNamedTool(sameMaxTokens(request));
}

/** The limit of output tokens has its older name. */
function sameMaxTokens(request: JsonObject): JsonObject {
  const { max_completion_tokens: newer, ...rest } = request;
  return newer === undefined || newer === null ? rest : { ...rest, max_tokens: newer };
}

/**
 * `tool_choice` is a word only: a named tool becomes the only tool, and a call is required. Without tools there is nothing
 * to choose, and the field is removed.
 */
function requireNamedTool(request: JsonObject): JsonObject {
  const { tool_choice: choice, ...rest } = request;
  const { tools } = rest;
  if (!Array.isArray(tools) || tools.length === 0) {
    const { tools: _none, ...withoutTools } = rest;
    return withoutTools;
  }
  if (!isJsonObject(choice)) return request;
  const name = isJsonObject(choice.function) ? choice.function.name : undefined;
  if (name === undefined) return request;
  const named = tools.filter(
    (tool) => isJsonObject(tool) && isJsonObject(tool.function) && tool.function.name === name,
  );
  return { ...rest, tools: named, tool_choice: 'required' };
}
