import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';

/**
 * Who takes turns in the queue for a key: its owner, then the key among the owner's. A key without owner stands for itself. Whose is what the
 * key stores says `storeOwnerOf`.
 */
export function senderOf({
  id,
  ownerId,
  weight,
  ownerWeight,
}: Pick<KeyIdentity, 'id' | 'ownerId' | 'weight' | 'ownerWeight'>): JobRequest['sender'] {
  if (ownerId === undefined) return { owner: id, key: id, ownerWeight: weight };
  return { owner: ownerId, key: id, ownerWeight, keyWeight: weight };
}
