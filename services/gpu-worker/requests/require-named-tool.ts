import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * For engines that take `tool_choice` only as a word: a named tool becomes the only tool offered, and a call is
 * required. Without tools there is nothing to choose from, and the field goes.
 */
export function requireNamedTool(request: JsonObject): JsonObject {
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
