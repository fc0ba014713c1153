/** Tokens of one finished answer, as counted by the engine. All are whole numbers, 0 or more. */
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

/** The usage of an answer that never began. */
export const noUsage: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};
