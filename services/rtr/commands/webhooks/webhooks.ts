import { RouterError } from '#shared/core/errors.ts';
import { webhookSettingsSchema, type WebhookEndpoint } from '#shared/accounts/webhooks/webhook-endpoint.ts';
import type { WebhookWithSecret } from '#shared/accounts/webhooks/webhook-endpoints.ts';
import { dateOf } from '../date-of.ts';
import { tableLines } from '../table-lines.ts';
import { findOwner, findWebhook, ownerNames, noteWebhook, type WebhookContext } from './webhook-context.ts';

const hourMs = 3_600_000;

/**
 * `rtr webhooks add <url> --events <list> [--team <team> | --user <address>] [--description <text>]`: makes a webhook and prints its
 * secret, once.
 * @throws RouterError `invalid_request` for an invalid setting, `not_found` for an unknown owner
 */
export async function addWebhook(
  context: WebhookContext,
  given: { url: string; events: string; team?: string; user?: string; description?: string },
): Promise<WebhookWithSecret> {
  const { url, description } = given;
  const events = given.events.split(',').map((event) => event.trim());
  const settings = webhookSettingsSchema.safeParse({ url, events, description });
  if (!settings.success) {
    const [issue] = settings.error.issues;
    throw new RouterError('invalid_request', issue?.message ?? '', { param: String(issue?.path[0]) });
  }
  const owner = await findOwner(context, given);
  const created = await context.webhooks.endpoints.create(owner, settings.data, undefined);
  if (created === 'no owner') throw new RouterError('not_found', 'The owner is blocked or gone.');
  if (created === 'too many') throw new RouterError('invalid_request', 'This owner has 20 webhooks already.');
  await noteWebhook(context, 'webhook.create', created.endpoint, { owner, events });
  printSecret(context, created, `Webhook ${created.endpoint.id}, with the secret shown only this once`);
  return created;
}

/** `rtr webhooks rotate <webhook> [--overlap-hours <hours>]`: makes a new secret and prints it, once. @throws RouterError `not_found` */
export async function rotateWebhook(context: WebhookContext, id: string, hours: number): Promise<void> {
  const endpoint = await findWebhook(context, id);
  const secret = await context.webhooks.endpoints.rotate(endpoint, hours * hourMs);
  if (secret === false) throw new RouterError('not_found', `There is no webhook with the id ${id}.`);
  await noteWebhook(context, 'webhook.rotate', endpoint, { overlapMs: hours * hourMs });
  printSecret(context, { endpoint, secret }, `The new secret of webhook ${id}, shown only this once`);
}

/** `rtr webhooks list`: every webhook, oldest first, with the address or name of its owner; with `json`, one object per line. */
export async function listWebhooks({ accounts, webhooks, print, json }: WebhookContext): Promise<void> {
  const endpoints = await webhooks.endpoints.list();
  if (json) {
    for (const endpoint of endpoints) print(JSON.stringify(shown(endpoint)));
  } else if (endpoints.length === 0) {
    print('There are no webhooks yet. Make one with: rtr webhooks add <url> --events <events>');
  } else {
    const names = await ownerNames(
      accounts,
      endpoints.map(({ owner }) => owner),
    );
    const rows = endpoints.map((endpoint) => [
      endpoint.id,
      names.get(endpoint.owner) ?? endpoint.owner,
      dateOf(endpoint.createdAt),
      stateOf(endpoint),
      endpoint.events.join(','),
      endpoint.url,
    ]);
    for (const line of tableLines([['ID', 'OWNER', 'CREATED', 'STATE', 'EVENTS', 'URL'], ...rows])) print(line);
  }
}

/** `rtr webhooks enable|disable <webhook>`. @throws RouterError `not_found` */
export async function setWebhook(context: WebhookContext, id: string, enabled: boolean): Promise<void> {
  const endpoint = await findWebhook(context, id);
  await context.webhooks.endpoints.change(id, { enabled });
  await noteWebhook(context, 'webhook.change', endpoint, { after: { enabled } });
  context.print(
    context.json ? JSON.stringify({ id, enabled }) : `Webhook ${id} is ${enabled ? 'enabled' : 'disabled'}.`,
  );
}

/** `rtr webhooks remove <webhook>`: removes it with its deliveries. @throws RouterError `not_found` */
export async function removeWebhook(context: WebhookContext, id: string): Promise<void> {
  const endpoint = await findWebhook(context, id);
  await context.webhooks.endpoints.remove(id);
  await noteWebhook(context, 'webhook.remove', endpoint);
  context.print(context.json ? JSON.stringify({ id, removed: true }) : `Webhook ${id} is removed.`);
}

function printSecret({ print, json }: WebhookContext, { endpoint, secret }: WebhookWithSecret, what: string): void {
  if (json) print(JSON.stringify({ ...shown(endpoint), secret }));
  else print(`${what}: ${secret}`);
}

function shown(endpoint: WebhookEndpoint): Record<string, unknown> {
  const { id, owner, url, events, description = '', createdAt, disabledReason = null } = endpoint;
  return {
    id,
    owner,
    url,
    events,
    description,
    state: stateOf(endpoint),
    disabledReason,
    createdAt: new Date(createdAt).toISOString(),
  };
}

function stateOf({ disabledAt }: WebhookEndpoint): 'enabled' | 'disabled' {
  return disabledAt === undefined ? 'enabled' : 'disabled';
}
