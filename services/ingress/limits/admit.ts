import type { Response } from 'express';
import type { Reservation, LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { Amount, PartyUse } from '#shared/accounts/limits/party-use.ts';
import { tightest } from '#shared/accounts/limits/tightest.ts';
import type { LimitStanding } from '#shared/formats/limit-standing.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { identityOf } from '../http/require-key.ts';

/** What a request that has not begun came to. */
export const nothing: Amount = { tokens: 0, cost: 0 };

/**
 * Holds what a request may come to against the limits of its key and the key's owner, and tells the client in headers how
 * they stand. A key without limits asks nobody and is not held up.
 * @param amount asked only where there are limits
 * @returns undefined where there are none, or when the client has gone meanwhile
 * @throws RouterError when a limit is in the way, or `store_unavailable`
 */
export async function admit(
  response: Response,
  format: ClientFormat,
  limits: Pick<LimitKeeper, 'reserve'>,
  amount: () => Amount,
): Promise<Reservation | undefined> {
  const { limits: parties } = identityOf(response);
  if (parties.length === 0) return undefined;
  const verdict = await limits.reserve(parties, amount());
  if (!response.headersSent) {
    for (const [name, value] of Object.entries(format.limitHeaders(standingOf(verdict.uses))))
      response.setHeader(name, value);
  }
  if (!verdict.granted) throw verdict.error;
  if (!response.destroyed) return verdict.reservation;
  verdict.reservation.release();
  return undefined;
}

/** Of all parties' limits the tightest ones. */
function standingOf(uses: readonly PartyUse[]): LimitStanding {
  return {
    at: uses[0]?.at ?? Date.now(),
    requests: tightest(uses, ['requestsPerMinute']),
    tokens: tightest(uses, ['tokensPerMinute', 'tokensPerDay', 'tokensPerMonth']),
  };
}
