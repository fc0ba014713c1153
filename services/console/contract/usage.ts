import type { Tier } from '#shared/core/tier.ts';

/*
 * The contract between the console's pages and its API: usage and prices. The rules of `account.ts` apply. A member sees
 * their own requests and those of their teams, an admin sees all.
 */

/** Sums over requests. Costs are in US dollars. */
export interface Totals {
  requests: number;
  failed: number;
  cancelled: number;
  /** Input tokens, cached ones included. */
  promptTokens: number;
  cachedTokens: number;
  /** Output tokens, thinking included. */
  completionTokens: number;
  reasoningTokens: number;
  cost: number;
  /** Pictures made, seconds of sound transcribed, characters spoken. */
  images: number;
  seconds: number;
  characters: number;
}

export type UsageGroup = 'model' | 'key' | 'team' | 'user' | 'tier' | 'purpose';

/**
 * `GET /usage?from=<ms>&to=<ms>&step=day|month&by=<UsageGroup>`, with the optional filters `model=`, `key=`, `team=`,
 * `user=`, `tier=` and `purpose=`. Days and months are those of UTC; `from` and `to` are rounded outwards to them.
 */
export interface UsageReport {
  step: 'day' | 'month';
  /** The start of each step, oldest first. */
  times: number[];
  groups: { id: string; name: string; totals: Totals; steps: Totals[] }[];
  totals: Totals;
}

/**
 * `GET /usage/requests?before=<cursor>&limit=50` with the same filters and `outcome=`: single requests, newest first, as
 * `{ requests: UsageRequest[], next?: cursor }`. `GET /usage/export?format=csv|json` with `from`, `to` and the same
 * filters streams all of them.
 */
export interface UsageRequest {
  id: string;
  at: number;
  key: { id: string; name: string };
  owner?: { kind: 'user' | 'team'; id: string; name: string };
  format: string;
  operation: string;
  /** The name that the client asked for; `model` is the one that served. */
  asked: string;
  /** What it was sent for, where known; and where in the registry the rule stands that chose the model, if one did. */
  purpose?: string | undefined;
  rule?: string | undefined;
  model?: string | undefined;
  tier?: Tier | undefined;
  worker?: string | undefined;
  outcome: 'done' | 'failed' | 'cancelled';
  /** The error's code. */
  code?: string | undefined;
  attempts: number;
  queueMs?: number | undefined;
  firstTokenMs?: number | undefined;
  totalMs: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  images?: number | undefined;
  seconds?: number | undefined;
  characters?: number | undefined;
  searches?: number | undefined;
  cost: number;
}

/** `GET /usage/now`: how much is used of each limit that applies to the signed-in person's keys. */
export interface LimitUse {
  party: string;
  name: string;
  limits: { name: string; limit: number; used: number; resetsAt?: number }[];
}

/** US dollars per million tokens, and where there are such, per picture, second, million characters or web search. `GET /prices`; `PUT /prices/<model>` overrides the shipped table, `DELETE` undoes that (admins). */
export interface Price {
  model: string;
  input: number;
  cachedInput?: number;
  cacheWrite?: number;
  /** For input that stays in the cache for an hour. */
  hourCacheWrite?: number;
  output: number;
  image?: number;
  second?: number;
  characters?: number;
  search?: number;
  /** The day as of which the price is known, as `2026-11-01`; absent where the registry file has none. */
  asOf?: string;
  source: 'shipped' | 'changed';
}
