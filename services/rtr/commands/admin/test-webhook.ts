import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { Delivery } from '../../../console/contract/webhooks.ts';
import { buildPath } from './admin-client.ts';
import type { AdminContext } from './admin-context.ts';

/**
 * Milliseconds to wait for the outcome of a test. A batch runner picks the delivery up within a second, and the receiver has ten seconds to
 * answer.
 */
const testMs = 15_000;

/** Milliseconds between two requests for the outcome. */
const pollMs = 250;

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
