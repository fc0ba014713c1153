import type { WebhookEvent, WebhookEventType, WebhookOwner } from '../webhooks/webhook-event.ts';

export const mailedEventTypes = [
  'rtr.budget.threshold',
  'rtr.budget.exhausted',
  'rtr.key.expiring',
  'rtr.key.expired',
  'rtr.worker.lost',
  'rtr.worker.ejected',
  'rtr.worker.failing',
  'rtr.worker.back',
  'rtr.model.unserved',
  'rtr.model.served',
  'rtr.errors.high',
  'rtr.errors.normal',
] as const satisfies readonly WebhookEventType[];

export type MailedEventType = (typeof mailedEventTypes)[number];

export function isMailedEventType(type: string): type is MailedEventType {
  return mailedEventTypes.some((mailedType) => mailedType === type);
}

/**
 * Returns the owners to whose recipients an event is mailed: the people and teams among its owners, or the router if there are none.
 * Returns undefined for an event that is not mailed.
 */
export function findMailOwners({
  type,
  owners,
}: Pick<WebhookEvent, 'type' | 'owners'>): readonly WebhookOwner[] | undefined {
  if (!isMailedEventType(type)) return undefined;
  const concerned = owners.filter((owner) => owner !== 'router');
  return concerned.length > 0 ? concerned : owners;
}
