import { RouterError } from '#shared/core/errors.ts';
import { formatDate } from '../../format-date.ts';
import { buildPath } from '../admin-client.ts';
import type { AdminContext } from '../admin-context.ts';
import { findReceiver, findTeam } from '../find-party.ts';
import { formatOwner, printDone, printList } from '../print-answers.ts';

const hourMs = 3_600_000;

interface Webhook {
  id: string;
  kind: 'router' | 'user' | 'team';
  owner?: { id: string; name: string };
  url: string;
  events: string[];
  enabled: boolean;
  createdAt: number;
}

interface WebhookWithSecret {
  webhook: Webhook;
  secret: string;
}

export interface NewWebhookOptions {
  events: string;
  team?: string;
  user?: string;
  description?: string;
}

/** `rtr webhooks add`: creates a webhook and prints its secret. The secret cannot be shown again. */
export async function addWebhook(
  context: AdminContext,
  url: string,
  { events: list, team, user, description }: NewWebhookOptions,
): Promise<void> {
  const { client } = context;
  const events = list.split(',').map((event) => event.trim());
  const owner =
    user !== undefined
      ? { kind: 'user', userId: (await findReceiver(client, user)).id }
      : team !== undefined
        ? { kind: 'team', teamId: (await findTeam(client, team)).id }
        : { kind: 'router' };
  const body = { ...owner, url, events, description };
  const { value } = await client.send<WebhookWithSecret>('POST', '/webhooks', { body });
  printSecret(context, value, `Webhook ${value.webhook.id}, with the secret shown only this once`);
}

/** `rtr webhooks rotate`: creates a new secret and prints it. The secret cannot be shown again. */
export async function rotateWebhook(context: AdminContext, id: string, hours: number): Promise<void> {
  const path = buildPath`/webhooks/${id}/rotate`;
  const { value } = await context.client.send<WebhookWithSecret>('POST', path, { body: { overlapMs: hours * hourMs } });
  printSecret(context, value, `The new secret of webhook ${id}, shown only this once`);
}

/** `rtr webhooks list`: lists every webhook that the token may see. */
export async function listWebhooks(context: AdminContext): Promise<void> {
  await printList(context, context.client.list<Webhook>('/webhooks'), {
    head: ['ID', 'OWNER', 'CREATED', 'STATE', 'EVENTS', 'URL'],
    row: (webhook) => {
      const { id, createdAt, enabled, events, url } = webhook;
      return [
        id,
        formatOwner(webhook.kind, webhook.owner?.name),
        formatDate(createdAt),
        enabled ? 'enabled' : 'disabled',
        events.join(','),
        url,
      ];
    },
    none: 'There are no webhooks yet. Make one with: rtr webhooks add <url> --events <events>',
  });
}

export async function setWebhook(context: AdminContext, id: string, enabled: boolean): Promise<void> {
  const { value } = await context.client.send<Webhook>('PATCH', buildPath`/webhooks/${id}`, { body: { enabled } });
  printDone(context, value, `Webhook ${id} is ${enabled ? 'enabled' : 'disabled'}.`);
}

/** `rtr webhooks remove`: removes a webhook with its deliveries. */
export async function removeWebhook(context: AdminContext, id: string): Promise<void> {
  await context.client.send('DELETE', buildPath`/webhooks/${id}`);
  printDone(context, { id, removed: true }, `Webhook ${id} is removed.`);
}

/** `rtr webhooks repeat`: sends the named ended deliveries again or, without names, all deliveries that were given up. */
export async function repeatDeliveries(context: AdminContext, id: string, deliveries: string[]): Promise<void> {
  const body = deliveries.length === 0 ? {} : { deliveries };
  const { value } = await context.client.send<{ repeated: number }>('POST', buildPath`/webhooks/${id}/repeat`, {
    body,
  });
  const { repeated } = value;
  const sentence = repeated === 1 ? 'One delivery is sent again.' : `${repeated} deliveries are sent again.`;
  printDone(context, { id, repeated }, sentence);
}

/**
 * Checks that a webhook gets only one owner.
 * @throws RouterError if both a team and a person are named
 */
export function requireOneOwner({ team, user }: Pick<NewWebhookOptions, 'team' | 'user'>): void {
  if (team === undefined || user === undefined) return;
  throw new RouterError('invalid_request', 'A webhook belongs to a team or to a person, not to both.');
}

function printSecret(context: AdminContext, { webhook, secret }: WebhookWithSecret, what: string): void {
  printDone(context, { ...webhook, secret }, `${what}: ${secret}`);
}
