import { isJsonObject, toObjectOrEmpty, type Json, type JsonObject } from '#shared/core/json.ts';
import { noUsage, readCount, type Usage } from '#shared/core/usage.ts';

/**
 * Reads the usage that an upstream reports; undefined if it reports none. Missing counts become 0. The output count is `total_tokens` minus
 * the prompt tokens if that is more than `completion_tokens`, because xAI and Gemini count reasoning only in the total.
 */
export function readChatUsage(usage: Json | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const promptTokens = readCount(usage['prompt_tokens']);
  const tokensBesidesPrompt = promptTokens > 0 ? readCount(usage['total_tokens']) - promptTokens : 0;
  const prompt = toObjectOrEmpty(usage['prompt_tokens_details']);
  const completion = toObjectOrEmpty(usage['completion_tokens_details']);
  return {
    promptTokens,
    cachedTokens: readCount(prompt['cached_tokens']),
    cacheWriteTokens: readCount(prompt['cache_write_tokens']),
    completionTokens: Math.max(readCount(usage['completion_tokens']), tokensBesidesPrompt),
    reasoningTokens: readCount(completion['reasoning_tokens']),
  };
}

/**
 * Replaces counts that the upstream does not report, or reports as 0, with estimates. No prompt is empty, and no answer with text has 0
 * tokens.
 */
export function fillUsage(
  reported: Usage | undefined,
  estimated: { prompt: (() => number) | undefined; completion: () => number },
): Usage {
  const usage = reported ?? noUsage;
  return {
    ...usage,
    promptTokens: usage.promptTokens || (estimated.prompt?.() ?? 0),
    completionTokens: usage.completionTokens || estimated.completion(),
  };
}

/** Writes the usage for chat clients: always the three counts, and all other fields of the upstream's usage unchanged. */
export function writeChatUsage(usage: Usage, upstreamUsage?: Json): JsonObject {
  return {
    ...toObjectOrEmpty(upstreamUsage),
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

/** Writes the details of the counts for chat clients, from the usage of an upstream of another format. */
export function writeChatUsageDetails(usage: Usage): JsonObject {
  return {
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    // An upstream that reports no reasoning tokens may still have used some, so a count of 0 is left out.
    ...(usage.reasoningTokens > 0 && { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } }),
  };
}

/**
 * Returns the usage of an answer without output tokens. The input tokens are the prompt count or the total that the upstream reports;
 * without both, an estimate.
 */
export function readInputUsage(
  usage: Json | undefined,
  { promptTokens }: { promptTokens?: (() => number) | undefined },
): Usage {
  const total = isJsonObject(usage) ? usage['total_tokens'] : undefined;
  const read = readChatUsage(usage) ?? noUsage;
  const reported = read.promptTokens || readCount(total);
  const counted = { ...noUsage, promptTokens: reported, cachedTokens: Math.min(read.cachedTokens, reported) };
  return fillUsage(counted, { prompt: promptTokens, completion: () => 0 });
}
