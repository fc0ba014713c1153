import { RouterError } from '#shared/core/errors.ts';
import { limitNames, type LimitedParty, type PartyLimits } from './limits.ts';
import { measure, type LimitName, type Measure } from './measures.ts';
import type { Amount, PartyUse } from './party-use.ts';
import type { RefusedBudget } from './refused-budgets.ts';

/** Milliseconds after which clients should try again if the end of running requests may release enough. */
const releaseWaitMs = 1_000;

const zeroUse = { buckets: { requests: 0, tokens: 0 }, active: 0 };
const zeroBudget = { spent: { tokens: 0, cost: 0 }, reserved: { tokens: 0, cost: 0 } };

interface Shortfall extends Measure {
  name: LimitName;
  party: LimitedParty;
  /** The limit in the unit in which it was set. */
  set: number;
}

/**
 * Returns the error for a request that is larger than a limit by itself, so that waiting does not help; undefined for any other request.
 */
export function explainExcess(parties: readonly PartyLimits[], amount: Amount): RouterError | undefined {
  const unused = parties.map((party) => ({ ...party, ...zeroUse, at: 0, day: zeroBudget, month: zeroBudget }));
  const [first] = listShortfalls(unused, amount);
  if (!first) return undefined;
  const wanted = describeAmount(first.name, first.wanted / first.unit);
  const message = `The request may come to ${wanted}, and ${describeLimit(first)}. Ask for less output with max_tokens, or send less.`;
  return new RouterError('request_exceeds_limit', message);
}

/** Returns the error for a request that limits refuse. It explains the limit for which the client must wait longest. */
export function explainRefusal(uses: readonly PartyUse[], amount: Amount): RouterError {
  const [worst] = listShortfalls(uses, amount)
    .map((shortfall) => ({ shortfall, waitMs: computeWaitMs(shortfall, uses[0]?.at ?? 0) }))
    .sort((a, b) => b.waitMs - a.waitMs);
  if (!worst) return new RouterError('rate_limit_exceeded', 'A limit is reached.', { retryAfter: 1 });
  const { shortfall, waitMs } = worst;
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1000));
  const limit = describeLimit(shortfall);
  if (isSpent(shortfall)) {
    const state =
      shortfall.spent < shortfall.limit ? 'What is left of the budget is too little for this' : 'The budget is used up';
    const message = `${state}: ${limit}. It begins anew in ${describeDuration(retryAfter)}.`;
    return new RouterError('insufficient_quota', message, { retryAfter });
  }
  const message = `Rate limit reached: ${limit}${shortfall.kind === 'budget' ? ', and running requests may use the rest' : ''}. Please try again in ${describeDuration(retryAfter)}.`;
  return new RouterError(
    shortfall.name === 'tokensPerMinute' ? 'token_limit_exceeded' : 'rate_limit_exceeded',
    message,
    {
      retryAfter,
    },
  );
}

/** Returns the parties whose limit of requests per minute refuses the request. */
export function findPartiesOverRate(uses: readonly PartyUse[], amount: Amount): LimitedParty[] {
  return listShortfalls(uses, amount).flatMap(({ name, party }) => (name === 'requestsPerMinute' ? [party] : []));
}

/** Returns the budgets that have too little left for a request, even if all running requests cost nothing. */
export function findSpentBudgets(uses: readonly PartyUse[], amount: Amount): RefusedBudget[] {
  return listShortfalls(uses, amount).filter(isSpent);
}

/** Returns the limits that refuse a request, by the same rule as `lua/reserve.lua`. */
function listShortfalls(uses: readonly PartyUse[], amount: Amount): Shortfall[] {
  return uses.flatMap((use) =>
    limitNames.flatMap((name) => {
      const measured = measure(name, use, amount);
      const set = use.limits[name];
      if (!measured || set === undefined) return [];
      const { limit, spent, reserved, wanted } = measured;
      return wanted > 0 && spent + reserved + wanted > limit ? [{ ...measured, name, party: use.party, set }] : [];
    }),
  );
}

function computeWaitMs(shortfall: Shortfall, now: number): number {
  const { kind, spent, wanted, limit, unit, resetsAt = now } = shortfall;
  if (kind === 'rate') return Math.ceil((spent + wanted - limit) / (limit / unit));
  return isSpent(shortfall) ? resetsAt - now : releaseWaitMs;
}

/** Returns whether a budget would be too small even if all running requests cost nothing. */
function isSpent({ kind, spent, wanted, limit }: Measure): boolean {
  return kind === 'budget' && spent + wanted > limit;
}

function describeLimit({ party, name, set }: Shortfall): string {
  return `this ${party.slice(0, party.indexOf(':'))} may use ${describeAmount(name, set)}${describePeriod(name)}`;
}

function describeAmount(name: LimitName, count: number): string {
  switch (name) {
    case 'requestsPerMinute':
      return `${count} requests`;
    case 'concurrentRequests':
      return `${count} requests at the same time`;
    case 'costPerDay':
    case 'costPerMonth':
      return `$${count}`;
    default:
      return `${count} tokens`;
  }
}

function describePeriod(name: LimitName): string {
  if (name.endsWith('PerMinute')) return ' a minute';
  if (name.endsWith('PerDay')) return ' a day (UTC)';
  return name.endsWith('PerMonth') ? ' a month (UTC)' : '';
}

function describeDuration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds < 48 * 3600 ? `${Math.ceil(seconds / 3600)} hours` : `${Math.ceil(seconds / 86_400)} days`;
}
