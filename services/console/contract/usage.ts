import type { Tier } from '#shared/core/tier.ts';

/*
 * What the console's pages and its API say to each other about use and its price, as in `account.ts`. A member sees
 * the own keys and teams; an admin sees everything.
 */

/** What requests came to. Money in US dollars. */
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
}

export type UsageGroup = 'model' | 'key' | 'team' | 'user' | 'tier';

/**
 * `GET /usage?from=<ms>&to=<ms>&step=day|month&by=<UsageGroup>` and, each at most once, a filter
 * `model=`, `key=`, `team=`, `user=`, `tier=`. Days and months of UTC; `from` and `to` are rounded outwards to them.
 */
export interface UsageReport {
  step: 'day' | 'month';
  /** The beginnings of the steps, oldest first. */
  times: number[];
  groups: { id: string; name: string; totals: Totals; steps: Totals[] }[];
  totals: Totals;
}

/**
 * `GET /usage/requests?before=<cursor>&limit=50` with the same filters and `outcome=`: single requests, newest first,
 * `{ requests: UsageRequest[], next?: cursor }`. `GET /usage/export?format=csv|json` with `from`, `to` and the same
 * filters: all of them, streamed.
 */
export interface UsageRequest {
  id: string;
  at: number;
  key: { id: string; name: string };
  owner?: { kind: 'user' | 'team'; id: string; name: string };
  format: string;
  operation: string;
  /** The name that the client asked for, and the model that served. */
  asked: string;
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
  cost: number;
}

/** `GET /usage/now`: what is used of each limit that concerns the signed-in person's keys. */
export interface LimitUse {
  party: string;
  name: string;
  limits: { name: string; limit: number; used: number; resetsAt?: number }[];
}

/** US dollars for a million tokens. `GET /prices`; `PUT /prices/<model>` and `DELETE` it (admins) put one above the shipped table. */
export interface Price {
  model: string;
  input: number;
  cachedInput?: number;
  cacheWrite?: number;
  output: number;
  /** Day from which the price is known, `2026-11-01`; absent where the registry file does not say. */
  asOf?: string;
  source: 'shipped' | 'changed';
}
