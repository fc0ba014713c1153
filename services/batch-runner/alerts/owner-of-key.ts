import type { KeyRecord } from '#shared/accounts/keys/key-record.ts';
import type { WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';

/** Returns the owner of a key: a person, a team, or the router. */
export function toWebhookOwner({ kind, ownerId }: Pick<KeyRecord, 'kind' | 'ownerId'>): WebhookOwner {
  return kind === 'router' || ownerId === undefined ? 'router' : `${kind}:${ownerId}`;
}
