import { toNanoDollars } from '../money.ts';
import type { PartyLimits } from './limits.ts';

/**
 * The tokens and the cost that are reserved for a request, or that it has used. Both are whole numbers: input and output tokens together,
 * and nano-dollars.
 */
export interface Amount {
  readonly tokens: number;
  readonly cost: number;
}

/** A trillion tokens, and a million dollars. No request costs more, and sums of such amounts stay within the whole numbers of Redis. */
const maxAmount: Amount = { tokens: 1e12, cost: 1e15 };

/** Rounds and bounds an amount so that the scripts can count with it, whatever a client requests or a worker reports. */
export function toScriptAmount({ tokens, cost }: Amount): Amount {
  return { tokens: toWholeNumber(tokens, maxAmount.tokens), cost: toWholeNumber(cost, maxAmount.cost) };
}

function toWholeNumber(count: number, largest: number): number {
  return Number.isNaN(count) ? 0 : Math.max(0, Math.min(largest, Math.ceil(count)));
}

/** A party's use of a day's or a month's budget: what was spent, and what is reserved for unfinished requests. */
export interface PeriodUse {
  readonly spent: Amount;
  readonly reserved: Amount;
}

/** A party's use of its limits at one moment. */
export interface PartyUse extends PartyLimits {
  /** Time of Redis's clock, in ms since 1970. */
  readonly at: number;
  /**
   * Levels of the two buckets, in requests or tokens times 60,000; 0 for a bucket without a limit. A full bucket is empty after a minute.
   */
  readonly buckets: { readonly requests: number; readonly tokens: number };
  /** Number of running requests. */
  readonly active: number;
  readonly day: PeriodUse;
  readonly month: PeriodUse;
}

/**
 * What one request or one token adds to the level of a bucket. It is the number of milliseconds in a minute, so that a whole number leaks
 * from the bucket in each millisecond: the limit itself.
 */
export const bucketUnit = 60_000;

const numbersPerParty = 11;

/** Converts a party and its limits to the form for the scripts, with costs in nano-dollars. */
export function toScriptParty({ party, limits: { costPerDay, costPerMonth, ...others } }: PartyLimits) {
  const costs = {
    costPerDay: costPerDay === undefined ? undefined : toCostLimit(costPerDay),
    costPerMonth: costPerMonth === undefined ? undefined : toCostLimit(costPerMonth),
  };
  return { party, limits: { ...others, ...costs } };
}

export function readPartyUses(parties: readonly PartyLimits[], [at = 0, ...numbers]: readonly number[]): PartyUse[] {
  return parties.map((party, index) => {
    const from = index * numbersPerParty;
    const [requests = 0, tokens = 0, active = 0, ...periods] = numbers.slice(from, from + numbersPerParty);
    const [day, month] = [readPeriod(periods.slice(0, 4)), readPeriod(periods.slice(4))];
    return { ...party, at, buckets: { requests, tokens }, active, day, month };
  });
}

/** Converts a limit of cost to nano-dollars. The result is at least 1. */
export function toCostLimit(dollars: number): number {
  return Math.max(1, toNanoDollars(dollars));
}

function readPeriod([tokens = 0, reservedTokens = 0, cost = 0, reservedCost = 0]: readonly number[]): PeriodUse {
  return { spent: { tokens, cost }, reserved: { tokens: reservedTokens, cost: reservedCost } };
}
