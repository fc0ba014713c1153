import type { LimitKeeper, Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Amount, PartyUse } from '#shared/accounts/limits/party-use.ts';
import { findTightestLimit } from '#shared/accounts/limits/measures.ts';
import type { Caller } from './caller.ts';
import type { LimitStatus } from '#shared/formats/client-format.ts';

/** The amount of a request that counts only against limits on the number of requests. */
export const zeroAmount: Amount = { tokens: 0, cost: 0 };

/**
 * Reserves the amount of a request against the limits of its key and the key's owner. Call it only for keys with limits.
 * @throws RouterError of the limit that refuses the request, or `store_unavailable`
 */
export async function reserve(
  limits: Pick<LimitKeeper, 'reserve'>,
  caller: Pick<Caller, 'identity' | 'onLimitStatus'>,
  amount: Amount,
): Promise<Reservation> {
  const { limits: parties } = caller.identity;
  const verdict = await limits.reserve(parties, amount);
  try {
    caller.onLimitStatus?.(summarizeUses(verdict.uses));
  } catch (error) {
    if (verdict.granted) verdict.reservation.release();
    throw error;
  }
  if (!verdict.granted) throw verdict.error;
  return verdict.reservation;
}

/** Returns the status of the tightest limit on requests, and of the tightest limit on tokens. */
function summarizeUses(uses: readonly PartyUse[]): LimitStatus {
  return {
    at: uses[0]?.at ?? Date.now(),
    requests: findTightestLimit(uses, ['requestsPerMinute']),
    tokens: findTightestLimit(uses, ['tokensPerMinute', 'tokensPerDay', 'tokensPerMonth']),
  };
}
