/** Units besides tokens, each with a price: generated images, seconds of transcribed sound, spoken characters, web searches. */
export const units = ['images', 'seconds', 'characters', 'searches'] as const;
export type Unit = (typeof units)[number];

/** The amount of each unit, in whole numbers; an absent unit counts as 0. */
export type Units = Partial<Record<Unit, number>>;

/** Token counts of one finished answer, as the upstream counted them. Whole numbers, 0 or more. */
export interface Usage {
  /** All input tokens, cached ones included. */
  promptTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  /** The cache-written tokens that stay in the cache for an hour; absent if the upstream does not report them. */
  hourCacheWriteTokens?: number | undefined;
  /** All output tokens, thinking included. */
  completionTokens: number;
  reasoningTokens: number;
  /** Absent for an answer that uses tokens only. */
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

/** Reads a count that an upstream reports, as a whole number; 0 for any other value. */
export function readCount(value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.round(value) : 0;
}

export function addUsage(a: Usage, b: Usage): Usage {
  const hourCacheWriteTokens = (a.hourCacheWriteTokens ?? 0) + (b.hourCacheWriteTokens ?? 0);
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    ...(hourCacheWriteTokens > 0 && { hourCacheWriteTokens }),
    completionTokens: a.completionTokens + b.completionTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...((a.units ?? b.units) && { units: mapUnits((unit) => getUnits(a, unit) + getUnits(b, unit)) }),
  };
}

export function getUnits({ units: amounts }: Pick<Usage, 'units'>, unit: Unit): number {
  return amounts?.[unit] ?? 0;
}

export function mapUnits<Value>(computeValue: (unit: Unit) => Value): Record<Unit, Value> {
  return {
    images: computeValue('images'),
    seconds: computeValue('seconds'),
    characters: computeValue('characters'),
    searches: computeValue('searches'),
  };
}
