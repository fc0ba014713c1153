/** Token counts of one finished answer, as the upstream counted them. Whole numbers, 0 or more. */
export interface Usage {
  /** All input tokens, cached ones included. */
  promptTokens: number;
  /** Input tokens read from a cache. */
  cachedTokens: number;
  /** Input tokens written to a cache. */
  cacheWriteTokens: number;
  /** All output tokens, thinking included. */
  completionTokens: number;
  /** Output tokens spent on thinking. */
  reasoningTokens: number;
}

/** The usage of an answer that never started. */
export const noUsage: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** The usage of two answers together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  };
}
