import { z } from 'zod';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { deliveryStates } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { webhookSettingsSchema, type WebhookEndpoint } from '#shared/accounts/webhooks/webhook-endpoint.ts';
import type { WebhookWithSecret } from '#shared/accounts/webhooks/webhook-endpoints.ts';
import { parseWebhookOwner, type WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import { deliverySchema, webhookSchema, webhookWithSecretSchema, type Webhook } from '../../contract/webhooks.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byCreation, cutPage } from '../operations/page.ts';
import { findOwnerKind, ownerKind, rotation } from '../keys/key-inputs.ts';
import { toDeliveryAnswer, toWebhookAnswers } from './webhook-answers.ts';

const newWebhook = webhookSettingsSchema.extend({
  kind: ownerKind,
  teamId: z.string().optional(),
  userId: z
    .string()
    .max(40)
    .optional()
    .describe("With `user`: the id of the person whom the webhook is for. Absent: the sender's own."),
});
const change = webhookSettingsSchema
  .partial()
  .extend({ enabled: z.boolean().optional().describe('Whether events are sent') });
const deliveriesQuery = z.object({
  state: z.enum(deliveryStates).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});
const repeatBody = z.strictObject({ deliveries: z.array(z.string().max(100)).min(1).max(500).optional() });

export interface WebhookParts extends Pick<ApiParts, 'accounts' | 'log'> {
  webhooks: Webhooks;
}

export function webhookOperations(parts: WebhookParts): Operation[] {
  const { accounts, webhooks } = parts;
  const { endpoints, deliveries, outbox } = webhooks;
  const webhookRoute = { path: '/webhooks/{id}', subject: 'webhooks', scopes: [] } as const;
  return [
    listOperation({
      path: '/webhooks',
      id: 'listWebhooks',
      subject: 'webhooks',
      summary:
        'Lists the webhooks that the person may see: their own and those of teams that they own; for an administrator, all webhooks.',
      scopes: ['read'],
      command: 'webhooks list',
      form: {
        columns: ['id', 'owner', 'kind', 'createdAt', 'enabled', 'events', 'url'],
        none: 'There are no webhooks yet. Make one with: rtr webhooks add <url> --events <events>',
      },
      item: webhookSchema,
      handle: async ({ actor }, page) => {
        const { data, next } = cutPage(await listVisible(actor), page, byCreation);
        return { data: await toWebhookAnswers(accounts, data), next };
      },
    }),
    operation({
      method: 'post',
      path: '/webhooks',
      id: 'createWebhook',
      subject: 'webhooks',
      summary: "Makes a webhook. Only this response contains the webhook's secret.",
      scopes: [],
      command: 'webhooks add',
      form: {
        arguments: ['url'],
        done: 'Webhook {webhook.id}, with the secret shown only this once: {secret}',
        example: "webhooks add https://ci.example.com/hooks --events 'batch.*' --team Blue",
      },
      body: newWebhook,
      answer: webhookWithSecretSchema,
      statuses: [201],
      handle: async ({ actor, body }) => {
        const { teamId, userId = actor.id, url, events, description } = body;
        const settings = { url, events, ...(description !== undefined && { description }) };
        const kind = findOwnerKind(body);
        if (kind === 'router') requireAccess('webhook.make.router', actor);
        if (kind === 'user' && userId.startsWith('token:')) {
          const message = 'The token belongs to nobody, who could own a webhook: name a person.';
          throw new ApiFailure(400, 'invalid_request', message, { field: 'userId' });
        }
        const owner = toOwner(kind, teamId, userId);
        requireAccess('webhook.manage', actor, parseWebhookOwner(owner));
        const created = await endpoints.create(owner, settings, actor.id);
        if (typeof created === 'string') throw creationFailure(created);
        await auditWebhook('webhook.create', actor, created.endpoint, { kind, events: settings.events });
        return readSecretAnswer(created);
      },
    }),
    operation({
      ...webhookRoute,
      method: 'patch',
      id: 'changeWebhook',
      summary: 'Changes the settings of a webhook, disables it or enables it.',
      command: 'webhooks set',
      body: change,
      answer: webhookSchema,
      handle: async ({ actor, params: { id }, body }) => {
        const before = await find(id, actor);
        if (!(await endpoints.change(before.id, body))) throw notFound();
        const { url, events, enabled } = body;
        // The audit entry contains only the host of an address, because the rest may be a secret of the receiver.
        await auditWebhook('webhook.change', actor, before, {
          changed: Object.keys(body),
          before: {
            ...(url !== undefined && { host: new URL(before.url).host }),
            ...(events !== undefined && { events: before.events }),
            ...(enabled !== undefined && { enabled: before.disabledAt === undefined }),
          },
          after: {
            ...(url !== undefined && { host: new URL(url).host }),
            ...(events !== undefined && { events }),
            ...(enabled !== undefined && { enabled }),
          },
        });
        return readAnswer(await find(before.id, actor));
      },
    }),
    operation({
      method: 'post',
      path: '/webhooks/{id}/rotate',
      id: 'rotateWebhook',
      subject: 'webhooks',
      summary: 'Makes a new secret. For `overlapMs`, events are also signed with the previous secret.',
      scopes: [],
      command: 'webhooks rotate',
      form: { done: 'The new secret of webhook {webhook.id}, shown only this once: {secret}' },
      body: rotation,
      answer: webhookWithSecretSchema,
      statuses: [201],
      handle: async ({ actor, params: { id }, body: { overlapMs } }) => {
        const endpoint = await find(id, actor);
        const secret = await endpoints.rotate(endpoint, overlapMs);
        if (secret === false) throw notFound();
        await auditWebhook('webhook.rotate', actor, endpoint, { overlapMs });
        return readSecretAnswer({ endpoint, secret });
      },
    }),
    operation({
      ...webhookRoute,
      method: 'delete',
      id: 'removeWebhook',
      summary: 'Removes a webhook with its deliveries.',
      command: 'webhooks remove',
      form: { done: 'Webhook {webhook} is removed.' },
      handle: async ({ actor, params: { id } }) => {
        const endpoint = await find(id, actor);
        if (!(await endpoints.delete(endpoint.id))) throw notFound();
        await auditWebhook('webhook.remove', actor, endpoint, {});
      },
    }),
    operation({
      method: 'post',
      path: '/webhooks/{id}/test',
      id: 'testWebhook',
      subject: 'webhooks',
      summary: 'Sends a test event, and returns its delivery, which is still pending.',
      scopes: [],
      command: 'webhooks test',
      answer: deliverySchema,
      statuses: [202],
      handle: async ({ actor, params }) => {
        const { id } = await find(params.id, actor);
        const sent = await outbox.sendTestEvent(id);
        const delivery = sent === undefined ? undefined : await deliveries.find(id, sent);
        if (!delivery) throw notFound();
        return toDeliveryAnswer(delivery);
      },
    }),
    operation({
      method: 'get',
      path: '/webhooks/{id}/deliveries',
      id: 'listDeliveries',
      subject: 'webhooks',
      summary: 'Lists the newest deliveries of a webhook.',
      scopes: ['read'],
      command: 'webhooks deliveries',
      form: {
        columns: ['id', 'event.type', 'createdAt', 'state', 'attempts', 'last.error'],
        none: 'There are no deliveries.',
      },
      query: deliveriesQuery,
      answer: z.array(deliverySchema),
      handle: async ({ actor, params, query }) => {
        const { id } = await find(params.id, actor);
        return (await deliveries.list(id, query)).map(toDeliveryAnswer);
      },
    }),
    operation({
      method: 'post',
      path: '/webhooks/{id}/repeat',
      id: 'repeatDeliveries',
      subject: 'webhooks',
      summary: 'Sends deliveries again: those that `deliveries` names, or else all that were given up.',
      scopes: [],
      command: 'webhooks repeat',
      form: { arguments: ['deliveries'], done: 'Deliveries that are sent again: {repeated}.' },
      body: repeatBody,
      answer: z.object({ repeated: z.number() }),
      handle: async ({ actor, params: { id }, body: { deliveries: ids } }) => {
        const endpoint = await find(id, actor);
        const repeated = await deliveries.repeat(endpoint.id, ids);
        if (repeated === 'unknown') throw notFound();
        if (repeated === 'disabled') throw new ApiFailure(409, 'webhook_disabled', 'Enable this webhook first.');
        await auditWebhook('webhook.repeat', actor, endpoint, { repeated });
        return { repeated };
      },
    }),
  ];

  /**
   * Finds an endpoint and checks that the actor may see and change it.
   * @throws ApiFailure 403 or 404
   */
  async function find(id: string, actor: Actor): Promise<WebhookEndpoint> {
    const endpoint = isKeyId(id) ? await endpoints.find(id) : undefined;
    if (!endpoint) throw notFound();
    requireAccess('webhook.manage', actor, parseWebhookOwner(endpoint.owner));
    return endpoint;
  }

  async function listVisible(actor: Actor): Promise<WebhookEndpoint[]> {
    if (actor.role === 'admin') return endpoints.list();
    const owned = [...actor.teams].flatMap(([id, role]) => (role === 'owner' ? [`team:${id}` as const] : []));
    return (await Promise.all([`user:${actor.id}` as const, ...owned].map((owner) => endpoints.list(owner)))).flat();
  }

  async function readAnswer(endpoint: WebhookEndpoint): Promise<Webhook> {
    const [found] = await toWebhookAnswers(accounts, [endpoint]);
    if (!found) throw notFound();
    return found;
  }

  async function readSecretAnswer({
    endpoint,
    secret,
  }: WebhookWithSecret): Promise<{ webhook: Webhook; secret: string }> {
    return { webhook: await readAnswer(endpoint), secret };
  }

  function auditWebhook(
    action: string,
    actor: Actor,
    { id, url, owner }: WebhookEndpoint,
    details: Record<string, unknown>,
  ) {
    const target = { kind: 'webhook', id, name: new URL(url).host };
    return writeAudit(parts, actor, { action, target, details, ofTeam: owner.startsWith('team:') });
  }
}

function toOwner(kind: 'router' | 'user' | 'team', teamId: string | undefined, userId: string): WebhookOwner {
  if (kind === 'router') return 'router';
  if (kind === 'user') return `user:${userId}`;
  if (teamId === undefined) throw new ApiFailure(400, 'invalid_request', 'Choose a team.', { field: 'teamId' });
  return `team:${teamId}`;
}

function creationFailure(outcome: 'no owner' | 'too many'): ApiFailure {
  if (outcome === 'no owner') return notFound();
  return new ApiFailure(
    409,
    'too_many_webhooks',
    'There are 20 webhooks already. Remove some that are no longer needed.',
  );
}
