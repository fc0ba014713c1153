import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { askText } from '../helpers/clients/streamed-text.ts';
import { startBalancer } from '../helpers/cluster/start-balancer.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { startNatsCluster } from '../helpers/servers/start-nats-cluster.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { until } from '../helpers/until.ts';

/** One whose answer takes a second, and one that is answered at once, so that a request begins in every moment. */
const prompts = ['Tell me something.\n[demo tokens=40 rate=40]', 'Tell me something.\n[demo tokens=2]'];

it('restarts of every ingress, worker, NATS server and Redis under load fail no request', async () => {
  const nats = stopAfterTest(await startNatsCluster());
  await nats.whole();
  const redis = stopAfterTest(await startRedis());
  const natsUrl = Object.values(nats.ports)
    .map((port) => `nats://127.0.0.1:${port}`)
    .join(',');
  // Longer than a balancer that stands still for a moment needs to notice.
  const ingress = { LEAVE_MS: '6000' };
  const cluster = stopAfterTest(await startCluster({ natsUrl, redisUrl: redis.url, ingress, workers: 2 }));
  const { raw: limited } = await cluster.addKey({ limits: { requestsPerMinute: 100_000 } });
  const old = [await cluster.addIngress(), await cluster.addIngress()];
  const nodes = new Set(old.map(({ url }) => url));
  const balancer = stopAfterTest(await startBalancer(nodes));
  /** The text of a whole answer, or what went wrong. */
  const ask = async (url: string, key: string, prompt = ''): Promise<string> => {
    const { text, error, finish } = await askText({ url, key, prompt, format: 'chat' });
    return error === undefined && finish === 'stop' ? text : `${error ?? 'no end'} after ${text.length} characters`;
  };
  const expected = await Promise.all(prompts.map((prompt) => ask(cluster.url, cluster.key, prompt)));
  for (const text of expected) expect(text).not.toMatch(/ after \d+ characters$/);

  const over = new AbortController();
  const failed: string[] = [];
  const served: Record<string, number> = {};
  let during = 'nothing';
  const client = async (key: string, kind: number): Promise<void> => {
    while (!over.signal.aborted) {
      const answer = await ask(balancer.url, key, prompts[kind]).catch(String);
      if (answer === expected[kind]) served[during] = (served[during] ?? 0) + 1;
      else failed.push(`${during}: ${answer}`);
    }
  };
  const keys = [limited, cluster.key];
  const clients = Array.from({ length: 8 }, (_, at) => client(keys[at % 2] ?? '', at < 6 ? 0 : 1));
  const restarting = async (what: string, restart: () => Promise<void>): Promise<void> => {
    during = what;
    await restart();
    await sleep(1_500);
  };
  try {
    for (const { process, url } of old) {
      await restarting('ingress', async () => {
        const successor = await cluster.addIngress();
        nodes.add(successor.url);
        await until(() => balancer.healthy.has(successor.url));
        expect(await process.stop()).toBe(0);
        nodes.delete(url);
      });
    }
    for (const worker of cluster.workers.slice(0, 2)) {
      await restarting('worker', async () => {
        await cluster.addWorker();
        expect(await worker.stop()).toBe(0);
      });
    }
    for (const name of Object.keys(nats.ports)) {
      await restarting('NATS', async () => {
        nats.signal(name, 'SIGTERM');
        await nats.restart(name);
        await nats.whole();
      });
    }
    await restarting('Redis', () => redis.restart());
  } finally {
    over.abort();
    await Promise.all(clients);
  }
  expect(failed).toEqual([]);
  for (const part of ['ingress', 'worker', 'NATS', 'Redis']) expect(served[part], part).toBeGreaterThan(20);
});
