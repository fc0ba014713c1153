import { Router } from 'express';
import { z } from 'zod';
import { isKeyId } from '#shared/accounts/keys/parse-key.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { deliveryStates } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { webhookSettingsSchema, type WebhookEndpoint } from '#shared/accounts/webhooks/webhook-endpoint.ts';
import type { WebhookWithSecret } from '#shared/accounts/webhooks/webhook-endpoints.ts';
import { accountOf, type WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import type { Webhook } from '../../contract/webhooks.ts';
import { requireAccess } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';
import { deliveryAnswer, webhookAnswers } from './webhook-answers.ts';

/** Milliseconds: 30 days. */
const longestOverlapMs = 30 * 24 * 3_600_000;

const newWebhook = webhookSettingsSchema.extend({
  kind: z.enum(['router', 'user', 'team']),
  teamId: z.string().optional(),
});
const change = webhookSettingsSchema.partial().extend({ enabled: z.boolean().optional() });
const rotation = z.strictObject({ overlapMs: z.number().int().min(0).max(longestOverlapMs) });
const deliveriesQuery = z.object({
  state: z.enum(deliveryStates).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});
const repetition = z.strictObject({ deliveries: z.array(z.string().max(100)).min(1).max(500).optional() });

export interface WebhookRoutesParts extends Pick<ApiParts, 'accounts' | 'log'> {
  webhooks: Webhooks;
}

/** The routes of `contract/webhooks.ts`, for signed-in people. */
export function webhookRoutes(parts: WebhookRoutesParts): Router {
  const { accounts, webhooks } = parts;
  const { endpoints, deliveries, outbox } = webhooks;
  const routes = Router();
  routes.get('/webhooks', async (_, response) => {
    response.json(await webhookAnswers(accounts, await visible(signedInOf(response))));
  });
  routes.post('/webhooks', async (request, response) => {
    const person = signedInOf(response);
    const { kind, teamId, ...settings } = parse(newWebhook, request.body);
    if (kind === 'router') requireAccess('webhook.make.router', person);
    const owner = ownerOf(kind, teamId, person);
    requireAccess('webhook.manage', person, accountOf(owner));
    const created = await endpoints.create(owner, settings, person.id);
    if (typeof created === 'string') throw notCreated(created);
    await note('webhook.create', person, created.endpoint, { kind, events: settings.events });
    response.status(201).json(await secretAnswer(created));
  });
  routes.patch('/webhooks/:id', async (request, response) => {
    const person = signedInOf(response);
    const before = await find(request.params.id, person);
    const wanted = parse(change, request.body);
    if (!(await endpoints.change(before.id, wanted))) throw notFound();
    const { events, enabled } = wanted;
    await note('webhook.change', person, before, { changed: Object.keys(wanted), after: { events, enabled } });
    response.json(await answer(await find(before.id, person)));
  });
  routes.post('/webhooks/:id/rotate', async (request, response) => {
    const person = signedInOf(response);
    const endpoint = await find(request.params.id, person);
    const { overlapMs } = parse(rotation, request.body);
    const secret = await endpoints.rotate(endpoint, overlapMs);
    if (secret === false) throw notFound();
    await note('webhook.rotate', person, endpoint, { overlapMs });
    response.status(201).json(await secretAnswer({ endpoint, secret }));
  });
  routes.delete('/webhooks/:id', async (request, response) => {
    const person = signedInOf(response);
    const endpoint = await find(request.params.id, person);
    if (!(await endpoints.remove(endpoint.id))) throw notFound();
    await note('webhook.remove', person, endpoint, {});
    response.status(204).end();
  });
  routes.post('/webhooks/:id/test', async (request, response) => {
    const { id } = await find(request.params.id, signedInOf(response));
    const sent = await outbox.test(id);
    const delivery = sent === undefined ? undefined : await deliveries.find(id, sent);
    if (!delivery) throw notFound();
    response.status(202).json(deliveryAnswer(delivery));
  });
  routes.get('/webhooks/:id/deliveries', async (request, response) => {
    const { id } = await find(request.params.id, signedInOf(response));
    const found = await deliveries.list(id, parse(deliveriesQuery, request.query));
    response.json(found.map(deliveryAnswer));
  });
  routes.post('/webhooks/:id/repeat', async (request, response) => {
    const person = signedInOf(response);
    const endpoint = await find(request.params.id, person);
    const { deliveries: ids } = parse(repetition, request.body);
    const repeated = await deliveries.repeat(endpoint.id, ids);
    if (repeated === 'unknown') throw notFound();
    if (repeated === 'disabled') throw new ApiFailure(409, 'webhook_disabled', 'Enable this webhook first.');
    await note('webhook.repeat', person, endpoint, { repeated });
    response.json({ repeated });
  });
  return routes;

  /** An endpoint that this person may see and change. @throws ApiFailure 403 or 404 */
  async function find(id: string, person: SignedIn): Promise<WebhookEndpoint> {
    const endpoint = isKeyId(id) ? await endpoints.find(id) : undefined;
    if (!endpoint) throw notFound();
    requireAccess('webhook.manage', person, accountOf(endpoint.owner));
    return endpoint;
  }

  async function visible(person: SignedIn): Promise<WebhookEndpoint[]> {
    if (person.role === 'admin') return endpoints.list();
    const owned = [...person.teams].flatMap(([id, role]) => (role === 'owner' ? [`team:${id}` as const] : []));
    return (await Promise.all([`user:${person.id}` as const, ...owned].map((owner) => endpoints.list(owner)))).flat();
  }

  async function answer(endpoint: WebhookEndpoint): Promise<Webhook> {
    const [found] = await webhookAnswers(accounts, [endpoint]);
    if (!found) throw notFound();
    return found;
  }

  async function secretAnswer({ endpoint, secret }: WebhookWithSecret): Promise<{ webhook: Webhook; secret: string }> {
    return { webhook: await answer(endpoint), secret };
  }

  /** The trail has the host alone: the rest of an address may be a secret of its receiver. */
  function note(action: string, person: SignedIn, { id, url }: WebhookEndpoint, details: Record<string, unknown>) {
    return record(parts, person, { action, target: { kind: 'webhook', id, name: new URL(url).host }, details });
  }
}

function ownerOf(kind: 'router' | 'user' | 'team', teamId: string | undefined, { id }: SignedIn): WebhookOwner {
  if (kind === 'router') return 'router';
  if (kind === 'user') return `user:${id}`;
  if (teamId === undefined) throw new ApiFailure(400, 'invalid_request', 'Choose a team.', { field: 'teamId' });
  return `team:${teamId}`;
}

function notCreated(outcome: 'no owner' | 'too many'): ApiFailure {
  if (outcome === 'no owner') return notFound();
  return new ApiFailure(
    409,
    'too_many_webhooks',
    'There are 20 webhooks already. Remove some that are no longer needed.',
  );
}
