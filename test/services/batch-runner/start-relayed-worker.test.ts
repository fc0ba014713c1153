import { expect, it } from 'vitest';
import { relayDue } from '#services/batch-runner/start-relayed-worker.ts';
import type { DueMessage } from '#shared/accounts/webhooks/due-messages.ts';
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
  const away = () => Promise.reject(new Error('the queue is away'));
  const enqueue = (due: DueMessage): Promise<void> => (isFull ? away() : deliver(due, stop.signal));
  const relays = [1, 2].map(() =>
    relayDue({ messageKind: 'webhooks', messages: deliveries, enqueue, log }, stop.signal),
  );
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
