import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { metricOf } from '../helpers/cluster/worker-admin.ts';
import { get, post } from '../helpers/clients/keyed-requests.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import type { Worker } from '#shared/broker/worker/start-worker.ts';
import { noUsage } from '#shared/core/usage.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { chatRequest, startScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { least } from '../helpers/least.ts';
import { until } from '../helpers/until.ts';
import { uniqueName } from '../helpers/unique-name.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { firstAdministrator } from '../helpers/console/first-administrator.ts';
import { goodPassword } from '../helpers/console/good-password.ts';
import type { ServiceProcess } from '../helpers/processes/start-process.ts';
import { adminCommandsOf } from '../helpers/rtr/admin-commands.ts';
import { runRtr } from '../helpers/rtr/run-rtr.ts';
import { startNats } from '../helpers/servers/start-nats.ts';
import { startPausableProxy } from '../helpers/servers/pausable-proxy.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import { untilAppended } from '../helpers/servers/until-appended.ts';
import { useStarted } from '../helpers/use-started.ts';

// The promises of "Outages" in docs/architecture.md that no other test covers, and how soon nodes follow the registry.

const nats = useStarted(startNats);
const redis = useStarted(startRedis);
const cluster = useStarted(() =>
  startScriptedCluster({
    natsUrl: nats.url,
    redisUrl: redis.url,
    ingress: { LOG_LEVEL: 'debug' },
  }),
);
const other = useStarted(() => cluster.addIngress());
/** An administrator, on the first ingress. */
let ada: ConsoleClient;
let limited: string;

beforeAll(async () => {
  // A server that stands still for a second counts as away.
  await until(async () => void ({ client: ada } = await firstAdministrator({ ...cluster, redisUrl: redis.url })));
  limited = (await cluster.addKey({ limits: { tokensPerDay: 1_000_000 } })).raw;
});

const ask = (key = cluster.key, url = cluster.url): Promise<Response> =>
  post({ url, key, path: '/openai/chat/completions', body: chatRequest([{ write: '{}' }], { max_tokens: 100 }) });

async function statuses(key: string): Promise<number[]> {
  return Promise.all([cluster.url, other.url].map(async (url) => (await get({ url, key }, '/openai/models')).status));
}

const untilStatuses = (key: string, status: number) =>
  until(async () => expect(await statuses(key)).toEqual([status, status]));

const commands = (...words: string[]) =>
  adminCommandsOf({ ...cluster, environment: { REDIS_URL: redis.url } })(...words);

const revoke = (id: string) => commands('keys', 'revoke', id);

const newKey = (name: string) =>
  adminCommandsOf({ ...cluster, environment: { REDIS_URL: redis.url } }).json('keys', 'create', '--name', name);

/** Returns the tokens that count against today's budget of the key. */
async function spentToday(): Promise<number> {
  const open = await openStore();
  const names = await open.redis.keys(`${cluster.prefix}:limit:key:*:?????`);
  const spent = await Promise.all(names.map((name) => open.redis.hget(name, 'tokens')));
  return spent.reduce((sum, tokens) => sum + Number(tokens), 0);
}

/** Returns a registry with one name for the model of the scripted worker. */
const naming = (name: string): string => `models:\n  ${name}: { targets: [{ model: demo }] } # a comment\n`;

const newest = async () => Number((await ada.get('/registry')).body.version);
const tryToStore = async (text: string) => ada.put('/registry', { text, basedOn: await newest() });

/** Stores a registry, again if Redis stands still for a second, and returns its version. */
async function store(text: string): Promise<number> {
  let version: unknown;
  await until(async () => {
    const { status, body } = await tryToStore(text);
    version = body.version;
    return status === 200;
  });
  return Number(version);
}

async function statusOf(name: string, url = cluster.url): Promise<number> {
  const answer = await post({ url, key: cluster.key, body: chatRequest([{ write: '{}' }], { model: name }) });
  await answer.text();
  return answer.status;
}

/** Returns whether a process has logged that it uses this version. */
function uses({ lines }: ServiceProcess, version: number): boolean {
  return lines.some((line) => line['msg'] === 'the registry was reloaded' && line['version'] === version);
}

const openStore = () => openKeyStore(redis.url, `${cluster.prefix}:`);

async function leave(worker: Worker): Promise<void> {
  await worker.drain(0);
  await worker.close();
}

describe('an edit of the registry', () => {
  let runner: ServiceProcess;
  beforeAll(async () => {
    const [started, worker] = await Promise.all([cluster.addBatchRunner(), cluster.addScripted()]);
    runner = started;
    return () => Promise.all([runner.stop(), leave(worker)]);
  });

  it('is taken by every ingress and batch runner within a second, and so is a revert', async () => {
    const [fast, faster] = [uniqueName('fast'), uniqueName('faster')];
    expect([await statusOf(fast), await statusOf(fast, other.url)]).toEqual([404, 404]);
    const takenAfter = async (version: number): Promise<number> => {
      const begun = performance.now();
      await until(() => uses(other.process, version) && uses(runner, version));
      return performance.now() - begun;
    };
    const version = await store(naming(fast));
    expect(await statusOf(fast)).toBe(200);
    const storedMs = await takenAfter(version);
    expect(await statusOf(fast, other.url)).toBe(200);
    const revert = async (): Promise<number> => {
      await store(naming(faster));
      return takenAfter((await ada.post('/registry/revert', { version })).body.version);
    };
    expect(Math.min(storedMs, await least(revert, 1_000))).toBeLessThan(1_000);
    const names = await Promise.all([fast, faster].map((name) => statusOf(name, other.url)));
    expect(names).toEqual([200, 404]);
  });

  it('that is not announced is taken within seconds', async () => {
    const { registryVersions: versions } = (await openStore()).accounts;
    const config = { models: { quiet: { targets: [{ model: 'demo' }] } } };
    const added = await versions.add({ basedOn: await newest(), text: naming('quiet'), config, by: 'p1' });
    const number = 'stored' in added ? added.stored : 0;
    await until(() => [cluster.ingress, other.process, runner].every((process) => uses(process, number)), 20_000);
    expect([await statusOf('quiet'), await statusOf('quiet', other.url)]).toEqual([200, 200]);
  });

  it('of a release that this one cannot read leaves the previous registry in use, and the log names the reason', async () => {
    const known = await store(naming('known'));
    // A process that reads this version after the next one is stored never sees it.
    await until(() => [cluster.ingress, other.process, runner].every((process) => uses(process, known)));
    const { registryVersions: versions } = (await openStore()).accounts;
    await versions.add({ basedOn: await newest(), text: 'moods: {}', config: { moods: {} }, by: 'p1' });
    const complaint = 'this release cannot read the stored registry: the previous one stays in use';
    for (const process of [cluster.ingress, other.process, runner])
      expect(await process.line(complaint)).toMatchObject({ problems: [expect.stringContaining('moods')] });
    expect([await statusOf('known'), await statusOf('known', other.url)]).toEqual([200, 200]);
  });

  it('is in use from the start on an ingress that Redis answers late', async () => {
    const proxy = await startPausableProxy(Number(new URL(redis.url).port));
    onTestFinished(() => proxy.close());
    proxy.delay(100);
    const url = new URL(redis.url);
    url.host = `127.0.0.1:${proxy.port}`;
    const late = await cluster.addIngress({ REDIS_URL: url.href });
    await until(async () => (await statusOf('known', late.url)) === 200);
    expect(late.process.lines.filter(({ msg }) => msg === 'the stored registry cannot be read')).toEqual([]);
    await late.process.stop();
  });

  it('stays while Redis is away, and an ingress that starts meanwhile has the last that it can read afterwards', async () => {
    await redis.kill();
    await other.process.line('the stored registry cannot be read');
    expect([await statusOf('known'), await statusOf('known', other.url)]).toEqual([200, 200]);
    const late = await cluster.addIngress();
    expect((await tryToStore(naming('never'))).status).toBe(503);
    await redis.restart();
    await until(async () => (await statusOf('known', late.url)) === 200);
    await until(async () => (await ada.get('/registry')).status === 200);
    expect(await late.process.line('the stored registry can be read again')).toBeDefined();
    await late.process.stop();
    await store(naming('mended'));
    await until(async () => (await statusOf('mended', other.url)) === 200);
  });

  it('stays when Redis comes back empty, until a version is stored', async () => {
    const open = await openStore();
    await store(naming('kept'));
    await until(async () => (await statusOf('kept', other.url)) === 200);
    await open.redis.del(...(await open.redis.keys(`${cluster.prefix}:registry-version*`)));
    const { body } = await ada.get('/registry');
    expect(body).toMatchObject({ source: 'none', version: 0 });
    // Longer than a poll.
    const since = performance.now();
    await until(() => performance.now() - since > 3_500);
    expect([await statusOf('kept'), await statusOf('kept', other.url)]).toEqual([200, 200]);
    await store(naming('anew'));
    await until(async () => (await statusOf('anew', other.url)) === 200);
    expect(await statusOf('kept', other.url)).toBe(404);
  });

  it('does not apply to a node with a file in ROUTER_CONFIG, which is its whole registry', async () => {
    await store(naming('stored'));
    const node = await cluster.addIngress(withRegistry(naming('written')));
    expect([await statusOf('stored', node.url), await statusOf('written', node.url)]).toEqual([404, 200]);
    const page = new ConsoleClient(node.url);
    await page.signIn('ada@example.com', goodPassword);
    expect((await page.get('/registry')).body).toMatchObject({ source: 'file', readOnly: true });
    await node.process.stop();
  });
});

describe('a key that is revoked on the command line', () => {
  it('is refused by every ingress within a second', async () => {
    const measure = async (): Promise<number> => {
      const { raw, key } = await newKey(uniqueName('leaver'));
      expect(await statuses(raw)).toEqual([200, 200]);
      await revoke(key.id);
      const revokedAt = performance.now();
      await untilStatuses(raw, 401);
      return performance.now() - revokedAt;
    };
    expect(await least(measure, 1_000)).toBeLessThan(1_000);
    expect(await statuses(cluster.key)).toEqual([200, 200]);
  });

  it('without an announcement is refused as soon as the broker is back', async () => {
    const { raw, key } = await newKey('leaver in a bad moment');
    expect(await statuses(raw)).toEqual([200, 200]);
    await nats.kill();
    await revoke(key.id);
    // The ingress that revoked it needs no announcement.
    expect(await statuses(raw)).toEqual([401, 200]);
    await nats.restart();
    await untilStatuses(raw, 401);
  });
});

it('no log line contains a key', async () => {
  const about = new Map([
    [cluster.key, 'with-a-key'],
    [generateKey('router').rawKey, 'with-a-wrong-key'],
  ]);
  for (const { process, url } of [{ process: cluster.ingress, url: cluster.url }, other]) {
    for (const [key, requestId] of about)
      await (await post({ url, key, body: chatRequest([]), headers: { 'x-request-id': requestId } })).text();
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
    await leave(worker);
  });

  it('known keys are accepted, others and the console answer 503, and all goes on afterwards', async () => {
    const { raw: unknown } = await newKey('not used before');
    expect(await statuses(cluster.key)).toEqual([200, 200]);
    expect((await ada.get('/keys')).status).toBe(200);
    await untilAppended(redis.url);
    await redis.kill();
    for (const url of [cluster.url, other.url]) {
      expect((await get({ url, key: cluster.key }, '/openai/models')).status).toBe(200);
      const refused = await get({ url, key: unknown }, '/openai/models');
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    }
    const stranger = new ConsoleClient(cluster.url);
    for (const answer of [await ada.get('/keys'), await stranger.signIn('ada@example.com', goodPassword)])
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'store_unavailable' } } });
    const { code, err } = await runRtr(cluster, ['keys', 'list'], { NATS_URL: nats.url, REDIS_URL: redis.url });
    const sentence = `Redis does not answer at ${new URL(redis.url).host}: is the cluster running?\n`;
    expect([code, err]).toEqual([1, sentence]);
    await redis.restart();
    await untilStatuses(unknown, 200);
    await until(async () => (await ada.get('/keys')).status === 200);
    expect((await stranger.signIn('ada@example.com', goodPassword)).status).toBe(200);
  });
});

describe('while NATS is away', () => {
  it('requests wait until it is back, with limits and without, and a price is changed all the same', async () => {
    const worker = await cluster.addScripted();
    await until(async () => (await Promise.all([ask(), ask(limited)])).every(({ status }) => status === 200));
    cluster.ingress.lines.length = 0;
    await nats.kill();
    await cluster.ingress.line('broker connection lost');
    const waiting = [ask(), ask(limited)];
    await until(async () => (await metricOf(cluster.adminUrl, 'rtr_open_requests')) === 2);
    const begun = performance.now();
    expect((await ada.put('/prices/demo', { input: 1, output: 2 })).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(10_000);
    await nats.restart();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    await leave(worker);
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
    await until(async () => (await waiting()) === 0);
    worker.update({ slots: 1 });
    expect((await ask()).status).toBe(200);
  });
});

/** Returns the requests that wait for a GPU worker in the whole cluster, as the first ingress reports. */
async function waiting(): Promise<number> {
  const load = (await (await fetch(`${cluster.adminUrl}/load`)).json()) as { tiers?: { gpu: { waiting: number } } };
  return load.tiers?.gpu.waiting ?? -1;
}
