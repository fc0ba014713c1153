import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Returns a request with the fields that llama.cpp reads. Ollama and LM Studio are built on llama.cpp and read the same fields. */
export function toLlamaCppFields(request: JsonObject): JsonObject {
  return requireNamedTool(renameMaxTokens(request));
}

/** Renames the limit of output tokens to its older name. */
function renameMaxTokens(request: JsonObject): JsonObject {
  const { max_completion_tokens: maxTokens, ...rest } = request;
  return maxTokens === undefined || maxTokens === null ? rest : { ...rest, max_tokens: maxTokens };
}

/**
 * Keeps only the tool that `tool_choice` names and requires a call, because llama.cpp accepts only words in this field, such as `required`.
 * Removes `tools` and `tool_choice` if there are no tools.
 */
function requireNamedTool(request: JsonObject): JsonObject {
  const { tool_choice: toolChoice, ...rest } = request;
  const { tools } = rest;
  if (!Array.isArray(tools) || tools.length === 0) {
    const { tools: _none, ...withoutTools } = rest;
    return withoutTools;
  }
  if (!isJsonObject(toolChoice)) return request;
  const name = isJsonObject(toolChoice.function) ? toolChoice.function.name : undefined;
  if (name === undefined) return request;
  const namedTools = tools.filter(
    (tool) => isJsonObject(tool) && isJsonObject(tool.function) && tool.function.name === name,
  );
  return { ...rest, tools: namedTools, tool_choice: 'required' };
}
