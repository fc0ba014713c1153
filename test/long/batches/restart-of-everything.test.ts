import { expect, it, type TestContext } from 'vitest';
import { batchClients, completedOf, slowLines, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { expectEachOnce } from '../../helpers/batches/expect-each-once.ts';
import { startCluster, type ClusterOptions } from '../../helpers/cluster/start-cluster.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';
import { until } from '../../helpers/until.ts';

const lines = 400;

/** A cluster with a batch runner, and all of its processes. */
async function start({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, options: ClusterOptions) {
  const cluster = await startCluster({ worker: { SLOTS: '16' }, ...options });
  onTestFinished(() => cluster.stop());
  const runner = await cluster.addBatchRunner();
  const { ingress, workers, engine } = cluster;
  return { cluster, processes: [runner, ingress, ...workers, ...(engine ? [engine] : [])] };
}

it.concurrent.for(['stop', 'kill'] as const)(
  'a batch is completed after a restart of everything in the middle, by %s: each line has one result and one charge',
  async (how, context) => {
    const [nats, redis] = await Promise.all([startNats(), startRedis()]);
    context.onTestFinished(async () => {
      await Promise.all([nats.stop(), redis.stop()]);
    });
    const servers = { natsUrl: nats.url, redisUrl: redis.url };
    const before = await start(context, servers);
    const { key, prefix } = before.cluster;
    const { openai: client } = batchClients(before.cluster);
    // They take ten seconds in all.
    const { id } = await submit(client, slowLines(lines, 400));
    await until(async () => (await completedOf(client, id)) > 50, 60_000);
    await Promise.all(before.processes.map((process) => process[how]()));
    if (how === 'kill') await Promise.all([nats.kill(), redis.kill()]);
    await Promise.all([nats.restart(), redis.restart()]);

    const { cluster } = await start(context, { ...servers, prefix });
    const { openai } = batchClients({ url: cluster.url, key });
    const begun = await openai.batches.retrieve(id);
    expect(begun.status).toBe('in_progress');
    expect(begun.request_counts?.completed).toBeLessThan(lines);
    const batch = await untilBatch(openai, id, undefined, 120_000);
    await expectEachOnce(openai, batch, { lines, redisUrl: redis.url, prefix });
  },
);
