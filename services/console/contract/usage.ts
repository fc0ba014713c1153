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

/** Whose key a request came with; both are absent where it named no key that is known, the owner where the key has none. */
export interface RefusedBy {
  /** The id `other` stands for keys that came when as many were counted apart as may be. */
  key?: { id: string; name: string };
  owner?: { kind: 'user' | 'team'; id: string; name: string };
}

export type RefusalGroup = 'code' | 'key' | 'team' | 'user';

/**
 * `GET /usage/refusals?from=<ms>&to=<ms>&step=hour|day|month&by=<RefusalGroup>`, with the optional filters `code=`, `key=`, `team=` and
 * `user=`: the requests that were answered with an error before any worker was given them, which no other count of usage has. `step` is
 * `day` and `by` is `code` unless given. Hours are kept for eight days, days for 90.
 */
export interface RefusalReport {
  step: 'hour' | 'day' | 'month';
  /** The start of each step, oldest first. */
  times: number[];
  /** The largest first; `id` and `name` of `code` are the code of the error table. `rows` are the ten largest parts of a group. */
  groups: {
    id: string;
    name: string;
    count: number;
    steps: number[];
    rows: (RefusedBy & { code: string; count: number })[];
  }[];
  total: number;
  /** A few of the newest, of each key and code one a minute at most. */
  samples: RefusalSample[];
}

/** A single refused request. */
export interface RefusalSample extends RefusedBy {
  at: number;
  id: string;
  code: string;
  /** The HTTP status of the code in the error table. */
  status: number;
  /** What it asked for, where that was read and looks like a name. */
  model?: string | undefined;
  /** The error's sentence, where nothing of the request can be in it. */
  message?: string | undefined;
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
