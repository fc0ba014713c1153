import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricOf } from '../helpers/cluster/worker-admin.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { mintKey } from '#shared/accounts/keys/mint-key.ts';
import { noUsage } from '#shared/core/usage.ts';
import type { KeyCommandContext } from '#services/rtr/commands/key-command.ts';
import { createRouterKey, revokeKey } from '#services/rtr/commands/keys.ts';
import { withKeyStore } from '#services/rtr/commands/with-key-store.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { chatRequest, startScriptedCluster, type ScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../helpers/until.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { firstAdministrator } from '../helpers/console/first-administrator.ts';
import { goodPassword } from '../helpers/console/good-password.ts';
import type { ServiceProcess } from '../helpers/processes/start-process.ts';
import { runRtr } from '../helpers/rtr/run-rtr.ts';
import { startNats } from '../helpers/servers/start-nats.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import { untilAppended } from '../helpers/servers/until-appended.ts';
import type { TestServer } from '../helpers/servers/test-server.ts';

// The promises of "Outages" in docs/architecture.md that no other test shows.

let nats: TestServer;
let redis: TestServer;
let cluster: ScriptedCluster;
let other: { process: ServiceProcess; url: string };
/** A key with a limit. */
let limited: string;

beforeAll(async () => {
  [nats, redis] = await Promise.all([startNats(), startRedis()]);
  cluster = await startScriptedCluster({
    natsUrl: nats.url,
    redisUrl: redis.url,
    ingress: { LOG_LEVEL: 'debug', STORE_WAIT_MS: '0' },
  });
  other = await cluster.addIngress();
  limited = (await cluster.addKey({ limits: { tokensPerDay: 1_000_000 } })).raw;
});

afterAll(async () => {
  await cluster?.stop();
  await Promise.all([nats?.stop(), redis?.stop()]);
});

const ask = (key = cluster.key, url = cluster.url): Promise<Response> =>
  post({ url, key, path: '/openai/chat/completions', body: chatRequest([{ write: '{}' }], { max_tokens: 100 }) });

function models(url: string, key: string): Promise<Response> {
  return fetch(`${url}/api/openai/models`, { headers: { authorization: `Bearer ${key}` } });
}

/** The statuses with which both ingress nodes answer this key. */
async function statuses(key: string): Promise<number[]> {
  return Promise.all([cluster.url, other.url].map(async (url) => (await models(url, key)).status));
}

/** Runs a command of `rtr keys` on the store, and returns what it returns and prints. */
async function withKeys<T>(command: (context: KeyCommandContext) => Promise<T>): Promise<{ made: T; printed: string }> {
  const lines: string[] = [];
  let made: T | undefined;
  await withKeyStore(
    {
      NATS_URL: nats.url,
      REDIS_URL: redis.url,
      prefix: cluster.prefix,
      consoleUrl: cluster.url,
      json: true,
      print: (line) => void lines.push(line),
    },
    async (context) => {
      made = await command(context);
    },
  );
  return { made: made as T, printed: lines.join('\n') };
}

const newKey = async (name: string) =>
  (await withKeys((context) => createRouterKey(context, { name, class: 'normal' }))).made;

/** Tokens that count against today's budget of the key. */
async function spentToday(): Promise<number> {
  const { connection } = await openKeyStore(redis.url, `${cluster.prefix}:`);
  const names = await connection.redis.keys(`${cluster.prefix}:limit:key:*:?????`);
  const spent = await Promise.all(names.map((name) => connection.redis.hget(name, 'tokens')));
  return spent.reduce((sum, tokens) => sum + Number(tokens), 0);
}

describe('a key that is revoked on the command line', () => {
  it('is refused by every ingress within a second', async () => {
    const { raw, record } = await newKey('leaver');
    expect(await statuses(raw)).toEqual([200, 200]);
    await withKeys((context) => revokeKey(context, record.id));
    await until(async () => (await statuses(raw)).every((status) => status === 401), 1_000);
    expect(await statuses(cluster.key)).toEqual([200, 200]);
  });

  it('without an announcement is refused as soon as the broker is back', async () => {
    const { raw, record } = await newKey('leaver in a bad moment');
    expect(await statuses(raw)).toEqual([200, 200]);
    await nats.kill();
    const { printed } = await withKeys((context) => revokeKey(context, record.id));
    expect(printed).toContain('could not be announced');
    expect(await statuses(raw)).toEqual([200, 200]);
    await nats.restart();
    await until(async () => (await statuses(raw)).every((status) => status === 401), 5_000);
  });
});

it('no key is in any log line', async () => {
  const about = new Map([
    [cluster.key, 'with-a-key'],
    [mintKey('router').raw, 'with-a-wrong-key'],
  ]);
  for (const { process, url } of [{ process: cluster.ingress, url: cluster.url }, other]) {
    for (const [key, requestId] of about) {
      const headers = { authorization: `Bearer ${key}`, 'x-request-id': requestId };
      const body = JSON.stringify({ model: 'nothing', messages: [{ role: 'user', content: 'Hello.' }] });
      await (await fetch(`${url}/api/openai/chat/completions`, { method: 'POST', headers, body })).text();
    }
    const { lines } = process;
    for (const requestId of about.values()) await until(() => lines.some((line) => line['requestId'] === requestId));
    const logged = JSON.stringify(lines);
    for (const key of about.keys()) {
      const secret = key.split(/[_.]/).at(-1) ?? '';
      expect(secret.length).toBeGreaterThan(30);
      for (const part of [secret.slice(0, 12), secret.slice(-12)]) expect(logged).not.toContain(part);
    }
  }
});

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

  it('known keys are accepted, others and the console answer 503, and all goes on afterwards', async () => {
    const { raw: unknown } = await newKey('not used before');
    expect(await statuses(cluster.key)).toEqual([200, 200]);
    const { client: page } = await firstAdministrator({ ...cluster, redisUrl: redis.url });
    expect((await page.get('/keys')).status).toBe(200);
    await untilAppended(redis.url);
    await redis.kill();
    for (const url of [cluster.url, other.url]) {
      expect((await models(url, cluster.key)).status).toBe(200);
      const refused = await models(url, unknown);
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    }
    const stranger = new ConsoleClient(cluster.url);
    for (const answer of [await page.get('/keys'), await stranger.signIn('ada@example.com', goodPassword)])
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'store_unavailable' } } });
    const { code, err } = await runRtr(cluster, ['keys', 'list'], { NATS_URL: nats.url, REDIS_URL: redis.url });
    const sentence = `Redis does not answer at ${new URL(redis.url).host}: is the cluster running?\n`;
    expect([code, err]).toEqual([1, sentence]);
    await redis.restart();
    await until(async () => (await statuses(unknown)).every((status) => status === 200), 10_000);
    await until(async () => (await page.get('/keys')).status === 200);
    expect((await stranger.signIn('ada@example.com', goodPassword)).status).toBe(200);
  });
});

describe('while NATS is away', () => {
  it('requests wait until it is back, with limits and without, and a price is changed all the same', async () => {
    const worker = await cluster.addScripted();
    const page = new ConsoleClient(cluster.url);
    expect((await page.signIn('ada@example.com', goodPassword)).status).toBe(200);
    await until(async () => (await Promise.all([ask(), ask(limited)])).every(({ status }) => status === 200));
    cluster.ingress.lines.length = 0;
    await nats.kill();
    await cluster.ingress.line('broker connection lost');
    const waiting = [ask(), ask(limited)];
    await until(async () => (await metricOf(cluster.adminUrl, 'rtr_open_requests')) === 2);
    const begun = performance.now();
    expect((await page.put('/prices/demo', { input: 1, output: 2 })).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(5_000);
    await nats.restart();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    await worker.drain(0);
    await worker.close();
  });
});

describe('when an ingress is killed', () => {
  it('another ingress serves, and no longer counts the killed one', async () => {
    // It has no slot, so that requests wait.
    const worker = await cluster.addScripted({ slots: 0 });
    const lost = ask(cluster.key, other.url).catch(() => undefined);
    await until(async () => (await waiting()) === 1);
    await other.process.kill();
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
