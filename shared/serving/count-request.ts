import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { zeroAmount } from './reserve.ts';

export interface CountedLimits {
  limits: Pick<LimitKeeper, 'reserve'>;
  knownRefusal: LimitKeeper['findKnownRefusal'];
}

/**
 * Counts a request that no worker serves against the limits of requests per minute of its key and the key's owner. It needs no place among
 * concurrent requests, because the work that it stands for may have them all: the running request whose answer it repeats, or the lines of
 * earlier batches. Without such a limit, nothing is called.
 * @throws RouterError of the limit that refuses the request, or `store_unavailable`
 */
export async function countRequest(
  { limits, knownRefusal }: CountedLimits,
  { limits: parties }: Pick<KeyIdentity, 'limits'>,
): Promise<void> {
  if (parties.every(({ limits: { requestsPerMinute } }) => requestsPerMinute === undefined)) return;
  const refusal = knownRefusal(parties);
  if (refusal) throw refusal;
  // The other limits stay, because Redis updates all levels that a party has.
  const withoutPlaces = parties.map((each) => ({ ...each, limits: { ...each.limits, concurrentRequests: undefined } }));
  const verdict = await limits.reserve(withoutPlaces, zeroAmount);
  if (!verdict.granted) throw verdict.error;
  verdict.reservation.release();
}
