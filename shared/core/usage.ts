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
