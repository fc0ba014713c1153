import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { DeliveryState, WebhookDelivery } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { tableLines } from '../table-lines.ts';
import { findWebhook, noteWebhook, type WebhookContext } from './webhook-context.ts';

/** Milliseconds for which a test waits for its outcome: a second until it is taken, and ten for the receiver. */
const testMs = 15_000;

/** Milliseconds between two looks at the outcome. */
const lookEveryMs = 250;

/**
 * `rtr webhooks test <webhook>`: sends a test event, and prints what came of it.
 * @throws RouterError `not_found` for an unknown webhook, `upstream_failed` when the receiver did not accept it, `upstream_timeout` when
 * nobody has tried it in time
 */
export async function testWebhook(context: WebhookContext, id: string, waitMs = testMs): Promise<void> {
  const { webhooks, print, json } = context;
  await findWebhook(context, id);
  const sent = await webhooks.outbox.test(id);
  if (sent === undefined) throw new RouterError('not_found', `There is no webhook with the id ${id}.`);
  const before = performance.now() + waitMs;
  let delivery = await webhooks.deliveries.find(id, sent);
  while (delivery?.state === 'pending' && performance.now() < before) {
    await sleep(lookEveryMs);
    delivery = await webhooks.deliveries.find(id, sent);
  }
  if (json && delivery) print(JSON.stringify(shown(delivery)));
  if (delivery?.state === 'delivered') {
    if (!json) print(`Delivered in ${delivery.lastMs ?? 0} ms: the receiver answered ${delivery.lastStatus ?? ''}.`);
    return;
  }
  if (delivery?.state === 'dead')
    throw new RouterError('upstream_failed', `Not delivered: ${delivery.lastError ?? ''}.`);
  throw new RouterError('upstream_timeout', 'No batch runner has tried it yet. Is one running (rtr worker batch)?');
}

/** `rtr webhooks deliveries <webhook> [--state <state>] [--limit <n>]`: the newest first; with `json`, one object per line. */
export async function listDeliveries(
  context: WebhookContext,
  id: string,
  options: { state?: DeliveryState; limit: number },
): Promise<void> {
  const { webhooks, print, json } = context;
  await findWebhook(context, id);
  const deliveries = await webhooks.deliveries.list(id, options);
  if (json) {
    for (const delivery of deliveries) print(JSON.stringify(shown(delivery)));
    return;
  }
  if (deliveries.length === 0) print('There are no deliveries.');
  else {
    const rows = deliveries.map((delivery) => [
      delivery.id,
      delivery.type,
      new Date(delivery.createdAt).toISOString(),
      delivery.state,
      String(delivery.attempts),
      delivery.lastError ?? '',
    ]);
    for (const line of tableLines([['ID', 'EVENT', 'CREATED', 'STATE', 'ATTEMPTS', 'LAST ERROR'], ...rows]))
      print(line);
  }
}

/**
 * `rtr webhooks repeat <webhook> [delivery…]`: sends ended deliveries again: these, or all that were given up.
 * @throws RouterError `not_found` for an unknown webhook, `invalid_request` for one that is disabled
 */
export async function repeatDeliveries(context: WebhookContext, id: string, deliveries: string[]): Promise<void> {
  const { webhooks, print, json } = context;
  const endpoint = await findWebhook(context, id);
  const repeated = await webhooks.deliveries.repeat(id, deliveries.length === 0 ? undefined : deliveries);
  if (repeated === 'unknown') throw new RouterError('not_found', `There is no webhook with the id ${id}.`);
  if (repeated === 'disabled')
    throw new RouterError('invalid_request', `Webhook ${id} is disabled. Enable it first: rtr webhooks enable ${id}`);
  await noteWebhook(context, 'webhook.repeat', endpoint, { repeated });
  print(
    json
      ? JSON.stringify({ id, repeated })
      : repeated === 1
        ? 'One delivery is sent again.'
        : `${repeated} deliveries are sent again.`,
  );
}

function shown(delivery: WebhookDelivery): Record<string, unknown> {
  const {
    id,
    endpoint,
    event,
    type,
    state,
    attempts,
    createdAt,
    nextAt,
    lastStatus = null,
    lastError = null,
  } = delivery;
  return {
    id,
    webhook: endpoint,
    event,
    type,
    state,
    attempts,
    createdAt: new Date(createdAt).toISOString(),
    nextAt: nextAt === undefined ? null : new Date(nextAt).toISOString(),
    lastStatus,
    lastError,
  };
}
