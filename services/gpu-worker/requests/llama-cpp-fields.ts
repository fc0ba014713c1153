import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Returns a request with the fields that llama.cpp reads. Ollama and LM Studio are built on llama.cpp and read the same fields. */
export function llamaCppFields(request: JsonObject): JsonObject {
  return requireNamedTool(renameMaxTokens(request));
}

/** Gives the limit of output tokens its older name. */
function renameMaxTokens(request: JsonObject): JsonObject {
  const { max_completion_tokens: newer, ...rest } = request;
  return newer === undefined || newer === null ? rest : { ...rest, max_tokens: newer };
}

/**
 * Replaces a tool that `tool_choice` names, because llama.cpp accepts only a word in this field. The named tool becomes the only one, and a
 * call is required. Removes the field if there are no tools to choose from.
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
