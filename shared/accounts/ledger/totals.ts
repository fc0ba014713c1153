import { z } from 'zod';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { UsageRecord } from './usage-record.ts';

/** Sums of requests. Cost in nano-dollars. */
export interface UsageTotals {
  requests: number;
  failed: number;
  cancelled: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  cost: number;
  images: number;
  seconds: number;
  characters: number;
  searches: number;
}

/** The key with its owner, the model, the tier and the purpose whose requests are counted together. A missing value is an empty string. */
export interface TotalsRow {
  key: string;
  user: string;
  team: string;
  tier: string;
  model: string;
  /** The purpose of the requests; empty if unknown. */
  purpose: string;
}

/**
 * The letter of each count. The name of a field in Redis is the letter and the text of the row, such as `n["k1","u1","","gpu","qwen3"]`.
 */
export const countLetters = {
  requests: 'n',
  failed: 'f',
  cancelled: 'x',
  promptTokens: 'p',
  cachedTokens: 'c',
  completionTokens: 'o',
  reasoningTokens: 'r',
  cost: '$',
  images: 'i',
  seconds: 's',
  characters: 'h',
  searches: 'w',
} as const satisfies Record<keyof UsageTotals, string>;

export const countNames = Object.keys(countLetters) as readonly (keyof UsageTotals)[];

/** The name under which all models and keys beyond the maximum number of rows of a period are counted. */
export const otherRow = 'other';

export function createZeroTotals(): UsageTotals {
  const zero = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  return { requests: 0, failed: 0, cancelled: 0, ...zero, cost: 0, images: 0, seconds: 0, characters: 0, searches: 0 };
}

export function addTotals(to: UsageTotals, more: UsageTotals): void {
  for (const name of countNames) to[name] += more[name];
}

export function computeTotals(record: UsageRecord): UsageTotals {
  const { outcome, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost } = record;
  const { images = 0, seconds = 0, characters = 0, searches = 0 } = record;
  const outcomes = { requests: 1, failed: Number(outcome === 'failed'), cancelled: Number(outcome === 'cancelled') };
  const tokens = { promptTokens, cachedTokens, completionTokens, reasoningTokens };
  return { ...outcomes, ...tokens, cost, images, seconds, characters, searches };
}

/** Returns the row that a request belongs to. A request that no model served is counted under the requested name. */
export function toTotalsRow({ key, owner, tier, model, asked, purpose }: UsageRecord): TotalsRow {
  const user = owner?.kind === 'user' ? owner.id : '';
  const team = owner?.kind === 'team' ? owner.id : '';
  return { key: key.id, user, team, tier: tier ?? '', model: model ?? asked, purpose: purpose ?? '' };
}

export function encodeRow({ key, user, team, tier, model, purpose }: TotalsRow): string {
  return JSON.stringify([key, user, team, tier, model, purpose]);
}

/**
 * Decodes the text of a row; undefined for any other text. Drops elements that another release has added. So several texts may decode to
 * the same row.
 */
export function decodeRow(text: string): TotalsRow | undefined {
  const { data } = createStoredSchema(z.array(z.unknown())).safeParse(text);
  if (!data) return undefined;
  const [key = '', user = '', team = '', tier = '', model = '', purpose = ''] = data.map(String);
  return { key, user, team, tier, model, purpose };
}
