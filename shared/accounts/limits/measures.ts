import type { Limits } from './limits.ts';
import { nanoPerDollar } from '../money.ts';
import { bucketUnit, toCostLimit, type Amount, type PartyUse } from './party-use.ts';
import { findNextBeginning } from '../periods.ts';

export type LimitName = keyof Limits;

/** One limit of a party, and the use that counts against it, in the whole numbers of the scripts. */
export interface Measure {
  readonly limit: number;
  /** The use that counts until it has leaked from the bucket or the period has ended. */
  readonly spent: number;
  /** The use that is reserved for unfinished requests. Some of the reserved use may be released at any moment. */
  readonly reserved: number;
  /** The amount that a request needs. */
  readonly wanted: number;
  /** Use of a rate leaks away evenly. Use of a budget ends with its period. Use of concurrency ends with the requests. */
  readonly kind: 'rate' | 'budget' | 'concurrency';
  /** The number that stands for one request, one token or one dollar. */
  readonly unit: number;
  /** When all current use has ceased to count, in ms since 1970; undefined if this time cannot be known. */
  readonly resetsAt: number | undefined;
}

/** Returns one limit with its use and the amount that a request needs of it; undefined if the party has no such limit. */
export function measure(name: LimitName, use: PartyUse, { tokens, cost }: Amount): Measure | undefined {
  const { limits, buckets, active, day, month, at } = use;
  const limit = limits[name];
  if (limit === undefined) return undefined;
  switch (name) {
    case 'requestsPerMinute':
      return measureRate(limit, buckets.requests, 1, at);
    case 'tokensPerMinute':
      return measureRate(limit, buckets.tokens, tokens, at);
    case 'concurrentRequests':
      return { kind: 'concurrency', limit, spent: 0, reserved: active, wanted: 1, unit: 1, resetsAt: undefined };
    case 'tokensPerDay':
      return measureBudget(limit, day.spent.tokens, day.reserved.tokens, tokens, 1, findNextBeginning('day', at));
    case 'tokensPerMonth':
      return measureBudget(limit, month.spent.tokens, month.reserved.tokens, tokens, 1, findNextBeginning('month', at));
    case 'costPerDay':
      return measureBudget(
        toCostLimit(limit),
        day.spent.cost,
        day.reserved.cost,
        cost,
        nanoPerDollar,
        findNextBeginning('day', at),
      );
    case 'costPerMonth':
      return measureBudget(
        toCostLimit(limit),
        month.spent.cost,
        month.reserved.cost,
        cost,
        nanoPerDollar,
        findNextBeginning('month', at),
      );
  }
}

function measureRate(limit: number, level: number, wanted: number, at: number): Measure {
  return {
    kind: 'rate',
    limit: limit * bucketUnit,
    spent: level,
    reserved: 0,
    wanted: wanted * bucketUnit,
    unit: bucketUnit,
    resetsAt: at + Math.ceil(level / limit),
  };
}

function measureBudget(
  limit: number,
  spent: number,
  reserved: number,
  wanted: number,
  unit: number,
  resetsAt: number,
): Measure {
  return { kind: 'budget', limit, spent, reserved, wanted, unit, resetsAt };
}

/** What is left of a limit, in requests or tokens. `resetsAt` is in ms since 1970. */
export interface Remainder {
  limit: number;
  remaining: number;
  resetsAt: number;
}

/** Finds the named limit that has the least left, across all parties. Returns undefined if no party has any of these limits. */
export function findTightestLimit(uses: readonly PartyUse[], names: readonly LimitName[]): Remainder | undefined {
  let tightest: Remainder | undefined;
  for (const use of uses) {
    for (const name of names) {
      const measured = measure(name, use, { tokens: 0, cost: 0 });
      if (!measured) continue;
      const { limit, spent, reserved, unit, resetsAt = use.at } = measured;
      const remaining = Math.max(0, Math.floor((limit - spent - reserved) / unit));
      if (!tightest || remaining < tightest.remaining) tightest = { limit: limit / unit, remaining, resetsAt };
    }
  }
  return tightest;
}
