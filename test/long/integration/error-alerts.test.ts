import { expect, it, onTestFinished } from 'vitest';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

it('a high error rate of an ingress is reported once by two runners, and mistakes of clients are none', async () => {
  const cluster = await startCluster({ ingress: { NO_WORKER_TIMEOUT_MS: '100' } });
  onTestFinished(() => cluster.stop());
  await Promise.all([1, 2].map(() => cluster.addBatchRunner({ WEBHOOK_NETWORKS: '127.0.0.1' })));
  const receiver = await startReceiver();
  const { add } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
  await add(receiver.url, { events: ['rtr.errors.*'] });
  const ask = async (body: object): Promise<number> => {
    const headers = { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' };
    const messages = [{ role: 'user', content: 'hello' }];
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'demo', messages, ...body }),
    });
    await answer.text();
    return answer.status;
  };
  const askOften = async (body: object): Promise<Set<number>> =>
    new Set(await Promise.all(Array.from({ length: 30 }, () => ask(body))));
  expect(await askOften({})).toEqual(new Set([200]));
  expect(await askOften({ messages: 'none' })).toEqual(new Set([400]));
  await cluster.workers[0]?.kill();
  expect(await askOften({})).toEqual(new Set([503]));
  await until(() => receiver.messages.length > 0, 30_000);
  const [event] = receiver.messages.map(({ body }) => JSON.parse(body) as { type: string; data: { failed: number } });
  expect(event).toMatchObject({ type: 'rtr.errors.high', data: { threshold: 20, seconds: 300 } });
  // Those that failed may have done so in two seconds, of which a runner has seen the first.
  expect(event?.data.failed).toBeGreaterThan(7);
  expect(event?.data.failed).toBeLessThanOrEqual(30);
  expect(receiver.messages).toHaveLength(1);
});
