import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it, onTestFinished } from 'vitest';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { createLog } from '#shared/core/log.ts';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { queuePrefix } from '#shared/background/background-access.ts';
import { until } from '../../helpers/until.ts';

it('a batch whose budget is used up pauses, says so, and goes on when the budget does', async () => {
  const cluster = await startCluster({ key: { limits: { tokensPerDay: 3_000 } } });
  onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner();
  const { openai } = batchClients(cluster);
  const lines = Array.from({ length: 100 }, (_, at) => chatLine(`l${at}`, `Say ${at}.`, { max_tokens: 100 }));
  const { id } = await submit(openai, lines);
  await until(async () => 'paused' in (await openai.batches.retrieve(id)), 30_000);
  const paused = await openai.batches.retrieve(id);
  expect(paused.status).toBe('in_progress');
  expect(JSON.stringify(paused)).toContain('3000 tokens a day');
  expect(paused.request_counts?.completed).toBeGreaterThan(0);
  expect(paused.request_counts?.completed).toBeLessThan(100);
  expect(paused.request_counts?.failed).toBe(0);

  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const connection = connectRedis(inject('redisUrl'), { log, name: 'test' });
  onTestFinished(() => connection.close());
  await connection.whenReady(AbortSignal.timeout(5_000));
  await new KeyStore(connection.redis, `${cluster.prefix}:`).change(cluster.keyId, {
    limits: { tokensPerDay: 1_000_000 },
  });
  const batch = await untilBatch(openai, id, undefined, 90_000);
  expect(batch.request_counts).toEqual({ total: 100, completed: 100, failed: 0 });
  expect('paused' in batch).toBe(false);
  expect(new Set((await resultsOf(openai, batch.output_file_id)).map(({ custom_id: custom }) => custom)).size).toBe(
    100,
  );
});

it('of a batch whose budget is used up, one slice at a time tries again, and each half a minute at most', async () => {
  const cluster = await startCluster({ key: { limits: { tokensPerDay: 1_000 } } });
  onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner();
  const { openai } = batchClients(cluster);
  // For 20 slices, which are more than a runner has seats.
  const lines = Array.from({ length: 2_000 }, (_, at) => chatLine(`l${at}`, `Say ${at}.`, { max_tokens: 100 }));
  const { id } = await submit(openai, lines);
  await until(async () => 'paused' in (await openai.batches.retrieve(id)), 30_000);

  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const connection = connectRedis(inject('redisUrl'), { log, name: 'test' });
  onTestFinished(() => connection.close());
  await connection.whenReady(AbortSignal.timeout(5_000));
  const job = (slice: number) => `${queuePrefix(`${cluster.prefix}:`)}:batch-slices:${id}-${slice}`;
  const begun = () =>
    Promise.all(Array.from({ length: 20 }, async (_, slice) => Number(await connection.redis.hget(job(slice), 'ats'))));
  await until(async () => (await begun()).every((times) => times > 0), 30_000);
  const sum = async () => (await begun()).reduce((all, times) => all + times, 0);
  const before = await sum();
  await sleep(25_000);
  expect((await sum()) - before).toBeLessThanOrEqual(2);
});
