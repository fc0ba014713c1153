import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';

/** The parts of the counts as chat clients get them, for a usage that came from the other format. */
export function chatUsageDetails(usage: Usage): JsonObject {
  return {
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
