import type { WebhookEvent, WebhookEventType, WebhookOwner } from '../webhook-event.ts';

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
 * Returns the source of an event that worker processes can cause as often as they want: the workers with one credential, or the models of
 * all workers. The mails of a source to one recipient have a share of those that the recipient gets in an hour. Returns undefined for other
 * events.
 */
export function findMailSource({ type, data }: Pick<WebhookEvent, 'type' | 'data'>): string | undefined {
  if (type.startsWith('rtr.model.')) return 'models';
  if (!type.startsWith('rtr.worker.')) return undefined;
  const { id } = data;
  const [credential, ...worker] = typeof id === 'string' ? id.split('.') : [];
  return worker.length === 0 ? 'workers without a credential' : `workers with the credential ${credential}`;
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
