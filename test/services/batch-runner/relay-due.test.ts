import { expect, it } from 'vitest';
import { relayDue } from '#services/batch-runner/relay-due.ts';
import type { DueDelivery } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';
import { until } from '../../helpers/until.ts';

it('relayed webhooks are queued once by any number of runners, and again when a queue fails', async () => {
  const receiver = await startReceiver();
  const { add, outbox, deliveries, batchEvent, deliver, makeDue, outcomes } = await openTestWebhooks();
  const { endpoint } = await add(receiver.url);
  const stop = new AbortController();
  const warnings: unknown[] = [];
  const log = { warn: (...said: unknown[]) => void warnings.push(said) };
  let isFull = true;
  const enqueue = async (due: DueDelivery): Promise<void> => {
    if (isFull) throw new Error('the queue is away');
    await deliver(due, stop.signal);
  };
  const takeDue = deliveries.takeDue.bind(deliveries);
  const relays = [1, 2].map(() => relayDue({ what: 'webhooks', takeDue, enqueue, log }, stop.signal));
  await outbox.emit(batchEvent());
  await until(() => warnings.length > 0);
  isFull = false;
  for (let sent = 0; sent < 3; sent++) await outbox.emit(batchEvent());
  await makeDue(endpoint.id);
  await until(() => outcomes.length === 4);
  stop.abort();
  await Promise.all(relays);
  expect(receiver.messages).toHaveLength(4);
  expect(new Set(receiver.messages.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
});
