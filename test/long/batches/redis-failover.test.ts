import { setTimeout as sleep } from 'node:timers/promises';
import { it, onTestFinished } from 'vitest';
import { batchClients, slowLines, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { expectEachOnce } from '../../helpers/batches/expect-each-once.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { startRedisPair } from '../../helpers/servers/start-redis-pair.ts';
import { until } from '../../helpers/until.ts';

const lines = 800;

it('a batch goes on with the new primary when the primary of Redis is killed, and every line has one result and one charge', async () => {
  const redis = await startRedisPair();
  onTestFinished(() => redis.stop());
  const cluster = await startCluster({ redisUrl: redis.url, worker: { SLOTS: '16' } });
  onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner();
  const { openai } = batchClients(cluster);
  const { id } = await submit(openai, slowLines(lines, 100));
  await untilBatch(openai, id, ['in_progress']);
  await sleep(1_500);
  await redis.primary.kill();
  // Until sentinels have named the new primary, the ingress answers 503.
  await until(async () => void (await openai.batches.retrieve(id)), 60_000);
  const batch = await untilBatch(openai, id, undefined, 180_000);
  await expectEachOnce(openai, batch, { lines, redisUrl: redis.url, prefix: cluster.prefix });
});
