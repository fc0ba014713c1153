import OpenAI from 'openai';
import { expect, inject, it } from 'vitest';
import { heavyBytes } from '#services/batch-runner/heavy-work.ts';
import { UnfinishedWork } from '#shared/store/redis/unfinished-work.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { shareCluster } from '../helpers/cluster/share-cluster.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { until } from '../helpers/until.ts';

it('a large background response that two runners died with fails, and is not tried again', async () => {
  const cluster = stopAfterTest(await shareCluster());
  const client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  const input = 'x'.repeat(heavyBytes);
  const { id } = await client.responses.create({ model: 'demo', input, background: true });
  const { connection } = await openKeyStore(inject('redisUrl'));
  for (const name of ['first', 'second'])
    await new UnfinishedWork(connection.redis, `${cluster.prefix}:`, name).begin(id);
  await cluster.addBatchRunner();
  await until(async () => (await client.responses.retrieve(id)).status === 'failed');
  const { error } = await client.responses.retrieve(id);
  expect(error).toEqual({ code: 'invalid_prompt', message: expect.stringContaining('Two processes of the router') });
});
