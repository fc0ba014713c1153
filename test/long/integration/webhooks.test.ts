import OpenAI from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import type { Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await shareCluster();
});
afterAll(() => cluster.stop());

it('webhooks whose runner is killed in the middle are delivered by another one, with the ids that they had', async () => {
  const receiver = await startReceiver();
  const { add, outbox, deliveries, batchEvent } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
  const { endpoint, secret } = await add(receiver.url);
  const runner = await cluster.addBatchRunner({ WEBHOOK_NETWORKS: '127.0.0.1' });
  receiver.answer(() => undefined);
  for (let sent = 0; sent < 6; sent++) await outbox.emit(batchEvent());
  // Four at once of one webhook.
  await until(() => receiver.messages.length === 4);
  await runner.kill();
  receiver.answer((response) => response.writeHead(204).end());
  await cluster.addBatchRunner({ WEBHOOK_NETWORKS: '127.0.0.1' });
  await until(async () => (await deliveries.list(endpoint.id, { state: 'delivered', limit: 9 })).length === 6, 60_000);
  const ids = receiver.messages.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(10);
  expect(new Set(ids).size).toBe(6);
  const client = new OpenAI({ apiKey: 'none' });
  for (const { body, headers } of receiver.messages) await client.webhooks.unwrap(body, headers, secret);
});
