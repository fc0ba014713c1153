import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';

/**
 * Returns the owner and the key that share the fair queue. A key without an owner stands for itself. The owner of what the key stores may
 * differ, see `storeOwnerOf`.
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
