import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryState } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { RouterError } from '#shared/core/errors.ts';
import { buildPath } from '../admin-client.ts';
import type { AdminContext } from '../admin-context.ts';
import { formatMinute, printList } from '../print-answers.ts';

/**
 * Milliseconds to wait for the outcome of a test. A batch runner picks the delivery up within a second, and the receiver has ten seconds to
 * answer.
 */
const testMs = 15_000;

/** Milliseconds between two requests for the outcome. */
const pollMs = 250;

interface Delivery {
  id: string;
  event: { id: string; type: string };
  state: DeliveryState;
  attempts: number;
  createdAt: number;
  last?: { at: number; ms: number; status?: number; error?: string };
}

/**
 * `rtr webhooks test`: sends a test event, and prints the outcome.
 * @throws RouterError `upstream_failed` if the receiver did not accept the event; `upstream_timeout` if no batch runner sent it in time
 */
export async function testWebhook(
  context: Pick<AdminContext, 'client' | 'print' | 'json'>,
  id: string,
  waitMs = testMs,
): Promise<void> {
  const { client, print, json } = context;
  let { value: delivery } = await client.send<Delivery>('POST', buildPath`/webhooks/${id}/test`);
  const deadline = performance.now() + waitMs;
  while (delivery.state === 'pending' && performance.now() < deadline) {
    await sleep(pollMs);
    const newest = await client.get<Delivery[]>(buildPath`/webhooks/${id}/deliveries`, { limit: 500 });
    delivery = newest.find(({ id: newestId }) => newestId === delivery.id) ?? delivery;
  }
  if (json) print(JSON.stringify(delivery));
  const { state, last } = delivery;
  if (state === 'delivered') {
    if (!json) print(`Delivered in ${last?.ms ?? 0} ms: the receiver answered ${last?.status ?? ''}.`);
    return;
  }
  if (state === 'dead') throw new RouterError('upstream_failed', `Not delivered: ${last?.error ?? ''}.`);
  throw new RouterError('upstream_timeout', 'No batch runner has tried it yet. Is one running (rtr worker batch)?');
}

/** `rtr webhooks deliveries`: lists deliveries, sent and pending, newest first. */
export async function listDeliveries(
  context: AdminContext,
  id: string,
  { state, limit }: { state?: DeliveryState; limit: number },
): Promise<void> {
  const deliveries = await context.client.get<Delivery[]>(buildPath`/webhooks/${id}/deliveries`, { state, limit });
  await printList(context, deliveries, {
    head: ['ID', 'EVENT', 'CREATED (UTC)', 'STATE', 'ATTEMPTS', 'LAST ERROR'],
    row: (delivery) => {
      return [
        delivery.id,
        delivery.event.type,
        formatMinute(delivery.createdAt),
        delivery.state,
        delivery.attempts,
        delivery.last?.error ?? '',
      ];
    },
    none: 'There are no deliveries.',
  });
}
