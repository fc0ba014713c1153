import type { KeyRecord } from '#shared/accounts/keys/key-record.ts';
import type { WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';

/** Whose a key is: the person's or the team's that it belongs to, else the router's. */
export function ownerOfKey({ kind, ownerId }: Pick<KeyRecord, 'kind' | 'ownerId'>): WebhookOwner {
  return kind === 'router' || ownerId === undefined ? 'router' : `${kind}:${ownerId}`;
}
