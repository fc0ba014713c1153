import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';

/**
 * Returns the owner and the key for which the fair queue counts a request. A key without an owner counts as its own owner. Stored content
 * of the key may have another owner, see `findStoreOwner`.
 */
export function getQueueSender({
  id,
  ownerId,
  weight,
  ownerWeight,
}: Pick<KeyIdentity, 'id' | 'ownerId' | 'weight' | 'ownerWeight'>): JobRequest['sender'] {
  if (ownerId === undefined) return { owner: id, key: id, ownerWeight: weight };
  return { owner: ownerId, key: id, ownerWeight, keyWeight: weight };
}
