import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { toFile } from 'openai';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { createLog } from '#shared/core/log.ts';
import { fileIdOf } from '#shared/files/file-id.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../../helpers/cluster/start-cluster.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';

const admin = { userId: '', isAdmin: true, keyIds: [], teamIds: [] };

async function start(options: ClusterOptions = {}): Promise<Cluster> {
  const cluster = await startCluster({ worker: { SLOTS: '16' }, ...options });
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** How many requests the usage ledger has, and what they came to. */
async function ledgerOf(redisUrl: string, prefix: string) {
  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const connection = connectRedis(redisUrl, { log, name: 'test' });
  await connection.whenReady(AbortSignal.timeout(10_000));
  const reader = new UsageReader(connection.redis, `${prefix}:`);
  const day = 24 * 3_600_000;
  const { totals } = await reader.report({
    viewer: admin,
    from: Date.now() - day,
    to: Date.now() + day,
    step: 'day',
    by: 'model',
    filter: {},
  });
  connection.close();
  return totals;
}

/** Whether the results have each line exactly once. */
function expectOnce(ids: readonly string[], lines: number): void {
  expect(ids).toHaveLength(lines);
  expect(new Set(ids).size).toBe(lines);
}

describe('a batch', () => {
  it('loses and doubles no line when its runners are killed again and again', async () => {
    const lines = 3_000;
    const cluster = await start();
    const { openai } = batchClients(cluster);
    const runners = [await cluster.addBatchRunner(), await cluster.addBatchRunner()];
    const { id } = await submit(
      openai,
      Array.from({ length: lines }, (_, at) =>
        chatLine(`line-${at}`, `Say ${at}.`, { demo: { first_token_delay_ms: 40 } }),
      ),
    );
    await untilBatch(openai, id, ['in_progress']);
    for (let kills = 0; kills < 5; kills += 1) {
      await sleep(1_500);
      await runners.shift()?.kill();
      runners.push(await cluster.addBatchRunner());
    }
    const batch = await untilBatch(openai, id, undefined, 180_000);
    expect(batch.status).toBe('completed');
    expect(batch.request_counts).toEqual({ total: lines, completed: lines, failed: 0 });
    expectOnce(
      (await resultsOf(openai, batch.output_file_id)).map(({ custom_id: custom }) => custom),
      lines,
    );
    expect((await ledgerOf(inject('redisUrl'), cluster.prefix)).requests).toBe(lines);
  });

  it('begins although whoever created it died before its first job was added', async () => {
    const cluster = await start();
    const { openai } = batchClients(cluster);
    await cluster.addBatchRunner();
    const text = JSON.stringify(chatLine('a', 'Hi.'));
    const file = await openai.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' });
    const { connection } = await openKeyStore(inject('redisUrl'));
    const bounds = { mostOpen: 10, keepMs: 3_600_000 };
    const batches = new Batches(connection.redis, `${cluster.prefix}:`, { bounds, report: () => undefined });
    const { keyId: owner } = cluster;
    const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions', window: '24h' };
    const createdAt = Date.now();
    const times = { createdAt, expiresAt: createdAt + 3_600_000 };
    const inputFile = fileIdOf(file.id) ?? '';
    await batches.create({ id: 'batch_without_job', owner, key: owner, ...what, inputFile, ...times, total: 0 });
    const batch = await untilBatch(openai, 'batch_without_job', undefined, 60_000);
    expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
  });

  it('goes on after restarts of Redis and of NATS in the middle', async () => {
    const lines = 1_500;
    const [nats, redis] = await Promise.all([startNats(), startRedis()]);
    onTestFinished(async () => {
      await Promise.all([nats.stop(), redis.stop()]);
    });
    const cluster = await start({ natsUrl: nats.url, redisUrl: redis.url });
    const { openai } = batchClients(cluster);
    await cluster.addBatchRunner();
    const { id } = await submit(
      openai,
      Array.from({ length: lines }, (_, at) =>
        chatLine(`line-${at}`, `Say ${at}.`, { demo: { first_token_delay_ms: 60 } }),
      ),
    );
    await untilBatch(openai, id, ['in_progress']);
    await sleep(1_000);
    await redis.restart();
    await sleep(2_000);
    await nats.restart();
    const batch = await untilBatch(openai, id, undefined, 180_000);
    expect(batch.request_counts).toEqual({ total: lines, completed: lines, failed: 0 });
    expectOnce(
      (await resultsOf(openai, batch.output_file_id)).map(({ custom_id: custom }) => custom),
      lines,
    );
    expect((await ledgerOf(redis.url, cluster.prefix)).requests).toBe(lines);
  });
});
