import type { Accounts } from '#shared/accounts/accounts.ts';
import type { WebhookDelivery } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import type { WebhookEndpoint } from '#shared/accounts/webhooks/webhook-endpoint.ts';
import { parseWebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import type { Delivery, Webhook } from '../../contract/webhooks.ts';

/** Converts endpoints into the API's answers, without their secrets. */
export async function toWebhookAnswers(
  { users, teams }: Pick<Accounts, 'users' | 'teams'>,
  endpoints: readonly WebhookEndpoint[],
): Promise<Webhook[]> {
  const owners = endpoints.map(({ owner }) => parseWebhookOwner(owner));
  const idsOf = (kind: 'user' | 'team'): string[] => owners.flatMap((each) => (each?.kind === kind ? [each.id] : []));
  const people = new Set([...idsOf('user'), ...endpoints.flatMap(({ createdBy }) => createdBy ?? [])]);
  const [names, found] = await Promise.all([users.readNames([...people]), teams.findAll([...new Set(idsOf('team'))])]);
  const teamNames = new Map(found.map(({ id, name }) => [id, name]));
  return endpoints.map((endpoint, index) => {
    const { id, url, events, description, disabledAt, disabledReason, createdAt, createdBy } = endpoint;
    const owner = owners[index];
    const name = owner && (owner.kind === 'user' ? names : teamNames).get(owner.id);
    const maker = createdBy === undefined ? undefined : names.get(createdBy);
    return {
      id,
      kind: owner?.kind ?? 'router',
      url,
      events,
      enabled: disabledAt === undefined,
      createdAt,
      ...(owner && { owner: { id: owner.id, name: name ?? 'a deleted team' } }),
      ...(description === undefined || description === '' ? {} : { description }),
      ...(disabledReason === undefined ? {} : { disabledReason }),
      ...(maker === undefined ? {} : { createdBy: maker }),
    };
  });
}

/** Converts a delivery into the API's answer, without its message. */
export function toDeliveryAnswer(delivery: WebhookDelivery): Delivery {
  const { id, event, type, state, attempts, createdAt, nextAt, endedAt } = delivery;
  const { lastAt, lastMs = 0, lastStatus, lastError } = delivery;
  return {
    id,
    event: { id: event, type },
    state,
    attempts,
    createdAt,
    ...(nextAt === undefined ? {} : { nextAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(lastAt === undefined && lastError === undefined
      ? {}
      : {
          last: {
            at: lastAt ?? createdAt,
            ms: lastMs,
            ...(lastStatus === undefined ? {} : { status: lastStatus }),
            ...(lastError === undefined ? {} : { error: lastError }),
          },
        }),
  };
}
