import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { startRedisPair } from '../../helpers/servers/start-redis-pair.ts';

const admin = { userId: '', isAdmin: true, keyIds: [], teamIds: [] };
const lines = 2_000;
const dayMs = 24 * 3_600_000;

it('a batch goes on with the new primary when the primary of Redis is killed, and every line has one result and one charge', async () => {
  const redis = await startRedisPair();
  onTestFinished(() => redis.stop());
  const cluster = await startCluster({ redisUrl: redis.url, worker: { SLOTS: '16' } });
  onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner();
  const { openai } = batchClients(cluster);
  const slow = { demo: { first_token_delay_ms: 60 } };
  const all = Array.from({ length: lines }, (_, at) => chatLine(`line-${at}`, `Say ${at}.`, slow));
  const { id } = await submit(openai, all);
  await untilBatch(openai, id, ['in_progress']);
  await sleep(1_500);
  await redis.primary.kill();
  const batch = await untilBatchThroughFailover(id);
  expect(batch.request_counts).toEqual({ total: lines, completed: lines, failed: 0 });
  const ids = (await resultsOf(openai, batch.output_file_id)).map(({ custom_id: custom }) => custom);
  expect(ids).toHaveLength(lines);
  expect(new Set(ids).size).toBe(lines);
  const { connection } = await openKeyStore(redis.url, `${cluster.prefix}:`);
  const [from, to] = [Date.now() - dayMs, Date.now() + dayMs];
  const query = { viewer: admin, filter: {}, step: 'day', by: 'model', from, to } as const;
  const { totals } = await new UsageReader(connection.redis, `${cluster.prefix}:`).report(query);
  expect(totals.requests).toBe(lines);

  /** Until sentinels have named the new primary, the ingress answers 503. */
  async function untilBatchThroughFailover(batchId: string) {
    const deadline = Date.now() + 30_000;
    for (;;) {
      try {
        return await untilBatch(openai, batchId, undefined, 180_000);
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(500);
      }
    }
  }
});
