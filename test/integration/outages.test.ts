import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noUsage } from '#shared/core/usage.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { chatRequest, startScriptedCluster, type ScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../helpers/until.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { runCommand } from '../helpers/processes/run-command.ts';
import { startNats } from '../helpers/servers/start-nats.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import { untilAppended } from '../helpers/servers/until-appended.ts';
import type { TestServer } from '../helpers/servers/test-server.ts';

// The promises of "Outages" in docs/architecture.md that no other test shows.

const email = 'ada@example.com';
const password = 'purple monkeys type slowly';

let nats: TestServer;
let redis: TestServer;
let cluster: ScriptedCluster;
/** A key with a limit. */
let limited: string;

beforeAll(async () => {
  [nats, redis] = await Promise.all([startNats(), startRedis()]);
  cluster = await startScriptedCluster({ natsUrl: nats.url, redisUrl: redis.url });
  limited = (await cluster.addKey({ limits: { tokensPerDay: 1_000_000 } })).raw;
});

afterAll(async () => {
  await cluster.stop();
  await Promise.all([nats.stop(), redis.stop()]);
});

const ask = (key = cluster.key, url = cluster.url): Promise<Response> =>
  fetch(`${url}/api/openai/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(chatRequest([{ write: '{}' }], { max_tokens: 100 })),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  });

/** Tokens that count against today's budget of the key. */
async function spentToday(): Promise<number> {
  const { connection } = await openKeyStore(redis.url, `${cluster.prefix}:`);
  const names = await connection.redis.keys(`${cluster.prefix}:limit:key:*:?????`);
  const spent = await Promise.all(names.map((name) => connection.redis.hget(name, 'tokens')));
  return spent.reduce((sum, tokens) => sum + Number(tokens), 0);
}

describe('while Redis is away', () => {
  it('a running request of a key with limits finishes, and is counted when Redis is back', async () => {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const worker = await cluster.addScripted({
      handler: async (_, reply) => {
        begun.resolve();
        await gate.promise;
        reply.write('{}');
        return { usage: { ...noUsage, promptTokens: 30, completionTokens: 12 }, finishReason: 'stop' };
      },
    });
    const running = ask(limited);
    await begun.promise;
    await redis.kill();
    gate.resolve();
    expect((await running).status).toBe(200);
    await redis.restart();
    await until(async () => (await spentToday()) === 42);
    await worker.drain(0);
    await worker.close();
  });

  it('the console answers 503, and its sessions continue afterwards', async () => {
    const { accounts } = await openKeyStore(redis.url, `${cluster.prefix}:`);
    const page = new ConsoleClient(cluster.url);
    await page.post(`/links/${await accounts.links.issueFirstAdmin()}`, { name: 'Ada', email, password });
    expect((await page.get('/keys')).status).toBe(200);
    await untilAppended(redis.url);
    await redis.kill();
    const stranger = new ConsoleClient(cluster.url);
    for (const answer of [await page.get('/keys'), await stranger.signIn(email, password)]) {
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'store_unavailable' } } });
    }
    await redis.restart();
    await until(async () => (await page.get('/keys')).status === 200);
    expect((await stranger.signIn(email, password)).status).toBe(200);
  });

  it('rtr keys ends with a sentence that names the address of Redis', async () => {
    await redis.kill();
    const command = runCommand(process.execPath, ['services/rtr/main.ts', 'keys', 'list'], {
      cwd: process.cwd(),
      env: { NATS_URL: nats.url, REDIS_URL: redis.url, RTR_PREFIX: cluster.prefix },
    });
    const code = await command.ended;
    await redis.restart();
    expect([code, command.err]).toEqual([
      1,
      `Redis does not answer at ${new URL(redis.url).host}: is the cluster running?\n`,
    ]);
  });
});

describe('while NATS is away', () => {
  it('requests that arrive while NATS is away are served when it is back, with limits and without', async () => {
    const worker = await cluster.addScripted();
    await until(async () => (await Promise.all([ask(), ask(limited)])).every(({ status }) => status === 200));
    await nats.kill();
    await cluster.ingress.line('broker connection lost');
    const waiting = [ask(), ask(limited)];
    await until(async () => (await openRequests()) === 2);
    await nats.restart();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    await worker.drain(0);
    await worker.close();
  });

  it('a price is changed all the same, in seconds', async () => {
    const page = new ConsoleClient(cluster.url);
    expect((await page.signIn(email, password)).status).toBe(200);
    await nats.kill();
    await cluster.ingress.line('broker connection lost');
    const begun = performance.now();
    expect((await page.put('/prices/demo', { input: 1, output: 2 })).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(5_000);
    await nats.restart();
  });
});

/** Requests that the ingress has not answered yet. */
async function openRequests(): Promise<number> {
  const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  return Number(/^rtr_open_requests (\d+)/m.exec(metrics)?.[1]);
}

describe('when an ingress is killed', () => {
  it('another ingress serves, and no longer counts the killed one', async () => {
    // It has no slot, so that requests wait.
    const worker = await cluster.addScripted({ slots: 0 });
    const { process: doomed, url } = await cluster.addIngress();
    const lost = ask(cluster.key, url).catch(() => undefined);
    await until(async () => (await waiting()) === 1);
    await doomed.kill();
    await lost;
    await until(async () => (await waiting()) === 0, 6_000);
    worker.update({ slots: 1 });
    expect((await ask()).status).toBe(200);
  });
});

/** Requests that wait for a GPU worker in the whole cluster, as its first ingress reports. */
async function waiting(): Promise<number> {
  const load = (await (await fetch(`${cluster.adminUrl}/load`)).json()) as { tiers?: { gpu: { waiting: number } } };
  return load.tiers?.gpu.waiting ?? -1;
}
