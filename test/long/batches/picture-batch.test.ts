import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { batchClients, resultsOf, submit } from '../../helpers/batches/batch-clients.ts';
import { expectEachOnce } from '../../helpers/batches/expect-each-once.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';

const mebibyte = 1024 * 1024;
const lines = 100;
/** What Redis may take in all. */
const maxInRedis = 32 * mebibyte;

it('a batch of pictures that have more bytes than Redis may take is completed, with every line once', async () => {
  const server = stopAfterTest(await startRedis());
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  await redis.config('SET', 'maxmemory', String(maxInRedis));
  const engine = { DEMO_MODELS: 'painter', DEMO_OPERATIONS: 'painter=draw' };
  const cluster = stopAfterTest(await startCluster({ engine, worker: { SLOTS: '16' }, redisUrl: server.url }));
  await cluster.addBatchRunner();
  const { openai } = batchClients(cluster);
  const asked = Array.from({ length: lines }, (_, at) => ({
    custom_id: `picture-${at}`,
    method: 'POST',
    url: '/v1/images/generations',
    body: { model: 'painter', prompt: `Cat ${at}`, size: '640x640' },
  }));
  const { id } = await submit(openai, asked, '/v1/images/generations');
  let most = 0;
  await until(async () => {
    most = Math.max(most, Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]));
    return (await openai.batches.retrieve(id)).status === 'completed';
  }, 120_000);
  const batch = await openai.batches.retrieve(id);
  await expectEachOnce(openai, batch, { lines, redisUrl: server.url, prefix: cluster.prefix });
  expect(most).toBeLessThan(maxInRedis / 2);
  const results = await resultsOf(openai, batch.output_file_id);
  const pictures = results.map(({ response }) => {
    const data = response?.body['data'] as { b64_json: string }[] | undefined;
    return Buffer.from(data?.[0]?.b64_json ?? '', 'base64');
  });
  expect(new Set(pictures.map((picture) => picture.toString('latin1'))).size).toBe(lines);
  const bytes = pictures.reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBeGreaterThan(1.5 * maxInRedis);
  for (const picture of pictures) expect(picture.subarray(-8, -4).toString()).toBe('IEND');
});
