import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readCount, type Usage } from '#shared/core/usage.ts';

/**
 * Reads the usage that a `messages` upstream reports. The reported `input_tokens` do not include cached tokens. For a stream, call this
 * function with the usage of `message_start`, overlaid with the counts of `message_delta`.
 */
export function readMessagesUsage(usage: Json | undefined): Usage {
  const fields = isJsonObject(usage) ? usage : {};
  const cachedTokens = readCount(fields['cache_read_input_tokens']);
  const cacheWriteTokens = readCount(fields['cache_creation_input_tokens']);
  const hourCacheWriteTokens = readCount(readField(fields['cache_creation'], 'ephemeral_1h_input_tokens'));
  const searches = readCount(readField(fields['server_tool_use'], 'web_search_requests'));
  return {
    promptTokens: readCount(fields['input_tokens']) + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    ...(hourCacheWriteTokens > 0 && { hourCacheWriteTokens }),
    completionTokens: readCount(fields['output_tokens']),
    reasoningTokens: readCount(readField(fields['output_tokens_details'], 'thinking_tokens')),
    ...(searches > 0 && { units: { searches } }),
  };
}

export function writeMessagesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens),
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedTokens,
    output_tokens: usage.completionTokens,
    output_tokens_details: usage.reasoningTokens > 0 ? { thinking_tokens: usage.reasoningTokens } : null,
    server_tool_use: null,
  };
}

function readField(value: Json | undefined, field: string): Json | undefined {
  return isJsonObject(value) ? value[field] : undefined;
}

/** Updates the usage of a `messages` stream. Counts are cumulative, so a later count replaces an earlier one. A null replaces nothing. */
export function overlayUsage(usage: JsonObject, update: Json | undefined): JsonObject {
  if (!isJsonObject(update)) return usage;
  return { ...usage, ...Object.fromEntries(Object.entries(update).filter(([, count]) => count !== null)) };
}
