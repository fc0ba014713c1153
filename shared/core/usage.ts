/** What requests use besides tokens: pictures made, seconds of sound heard, characters spoken, web searches. Each has a price. */
export const units = ['images', 'seconds', 'characters', 'searches'] as const;
export type Unit = (typeof units)[number];

/** How much of each unit; absent ones are 0. Whole numbers. */
export type Units = Partial<Record<Unit, number>>;

/** Token counts of one finished answer, as the upstream counted them. Whole numbers, 0 or more. */
export interface Usage {
  /** All input tokens, cached ones included. */
  promptTokens: number;
  /** Input tokens read from a cache. */
  cachedTokens: number;
  /** Input tokens written to a cache. */
  cacheWriteTokens: number;
  /** Those of them that stay in the cache for an hour; absent where the upstream does not tell. */
  hourCacheWriteTokens?: number | undefined;
  /** All output tokens, thinking included. */
  completionTokens: number;
  /** Output tokens spent on thinking. */
  reasoningTokens: number;
  /** Absent for an answer that is of tokens alone. */
  units?: Units | undefined;
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
  const hourCacheWriteTokens = (one.hourCacheWriteTokens ?? 0) + (other.hourCacheWriteTokens ?? 0);
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    ...(hourCacheWriteTokens > 0 && { hourCacheWriteTokens }),
    completionTokens: one.completionTokens + other.completionTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    ...((one.units ?? other.units) && { units: mapUnits((unit) => unitsOf(one, unit) + unitsOf(other, unit)) }),
  };
}

/** How much of a unit was used. */
export function unitsOf({ units: used }: Pick<Usage, 'units'>, unit: Unit): number {
  return used?.[unit] ?? 0;
}

/** A value for each unit. */
export function mapUnits<Value>(valueOf: (unit: Unit) => Value): Record<Unit, Value> {
  return {
    images: valueOf('images'),
    seconds: valueOf('seconds'),
    characters: valueOf('characters'),
    searches: valueOf('searches'),
  };
}
