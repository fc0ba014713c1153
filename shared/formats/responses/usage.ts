import { isJsonObject, toObjectOrEmpty, type Json, type JsonObject } from '#shared/core/json.ts';
import { readCount, type Usage } from '#shared/core/usage.ts';

/**
 * Reads the usage of a response. The reported `input_tokens` include cached tokens. The web searches are counted in the output. Returns
 * undefined for a response without usage.
 */
export function readResponsesUsage({ usage, output: items }: JsonObject): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const searches = Array.isArray(items) ? items.filter(isSearch).length : 0;
  const input = toObjectOrEmpty(usage['input_tokens_details']);
  const output = toObjectOrEmpty(usage['output_tokens_details']);
  const promptTokens = readCount(usage['input_tokens']);
  const tokensBesidesPrompt = promptTokens > 0 ? readCount(usage['total_tokens']) - promptTokens : 0;
  return {
    promptTokens,
    cachedTokens: readCount(input['cached_tokens']),
    cacheWriteTokens: readCount(input['cache_write_tokens']),
    // See `readChatUsage`.
    completionTokens: Math.max(readCount(usage['output_tokens']), tokensBesidesPrompt),
    reasoningTokens: readCount(output['reasoning_tokens']),
    ...(searches > 0 && { units: { searches } }),
  };
}

/** Writes the usage for Responses clients, always with both details. */
export function writeResponsesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

/** Whether an item is a completed web search. Opening a page, or searching within a page, does not count. */
function isSearch(item: Json): boolean {
  if (!isJsonObject(item) || item['type'] !== 'web_search_call' || item['status'] !== 'completed') return false;
  return toObjectOrEmpty(item['action'])['type'] === 'search';
}

/** Adds two usages of the Responses format field by field. Returns one of them unchanged if the other is missing. */
export function sumUsage(sum: JsonObject | undefined, usage: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(usage)) return sum;
  if (!sum) return usage;
  const fields = [...new Set([...Object.keys(sum), ...Object.keys(usage)])];
  return Object.fromEntries(fields.map((field) => [field, addValues(sum[field], usage[field])]));
}

function addValues(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (isJsonObject(a) || isJsonObject(b)) return sumUsage(isJsonObject(a) ? a : undefined, b);
  return b ?? a;
}
