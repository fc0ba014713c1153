import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { zeroAmount } from './reserve.ts';

export interface CountedLimits {
  limits: Pick<LimitKeeper, 'reserve'>;
  findKnownRefusal: LimitKeeper['findKnownRefusal'];
}

/**
 * Counts a request that no worker serves against the limits on requests per minute of its key and the key's owner. The request does not
 * count as concurrent, because other work of the key may take up that limit: the running request that this request repeats, or the lines of
 * earlier batches. Does nothing if no party limits the requests per minute.
 * @throws RouterError of the limit that refuses the request, or `store_unavailable`
 */
export async function countRequest(
  { limits, findKnownRefusal }: CountedLimits,
  { limits: parties }: Pick<KeyIdentity, 'limits'>,
): Promise<void> {
  if (parties.every(({ limits: { requestsPerMinute } }) => requestsPerMinute === undefined)) return;
  const refusal = findKnownRefusal(parties);
  if (refusal) throw refusal;
  // All other limits stay, because Redis updates every limit of a party.
  const partiesWithoutConcurrency = parties.map((each) => ({
    ...each,
    limits: { ...each.limits, concurrentRequests: undefined },
  }));
  const verdict = await limits.reserve(partiesWithoutConcurrency, zeroAmount);
  if (!verdict.granted) throw verdict.error;
  verdict.reservation.release();
}
