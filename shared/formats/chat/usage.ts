import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';

/** Reads what an upstream counted; what it left out is 0. Undefined when it told nothing. */
export function readChatUsage(usage: Json | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const prompt = objectOf(usage['prompt_tokens_details']);
  const completion = objectOf(usage['completion_tokens_details']);
  return {
    promptTokens: count(usage['prompt_tokens']),
    cachedTokens: count(prompt['cached_tokens']),
    cacheWriteTokens: count(prompt['cache_write_tokens']),
    completionTokens: count(usage['completion_tokens']),
    reasoningTokens: count(completion['reasoning_tokens']),
  };
}

/**
 * What the upstream counted, with estimates for what it should have told and did not: no answer has an empty prompt, and
 * none with text has no tokens.
 */
export function completeUsage(
  told: Usage | undefined,
  estimated: { prompt: (() => number) | undefined; completion: () => number },
): Usage {
  const usage = told ?? noUsage;
  return {
    ...usage,
    promptTokens: usage.promptTokens || (estimated.prompt?.() ?? 0),
    completionTokens: usage.completionTokens || estimated.completion(),
  };
}

/** The usage as chat clients get it: the three counts always, the upstream's further fields as they came. */
export function writeChatUsage(usage: Usage, upstream?: Json): JsonObject {
  return {
    ...objectOf(upstream),
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function count(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.round(value) : 0;
}

/** The parts of the counts as chat clients get them, for a usage that came from the other format. */
export function chatUsageDetails(usage: Usage): JsonObject {
  return {
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
