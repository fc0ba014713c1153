import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../helpers/clients/keyed-requests.ts';
import type { RegistryVersions } from '#shared/accounts/registry-versions/registry-versions.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { chatRequest, startScriptedCluster, type ScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { ConsoleClient, type ApiAnswer } from '../helpers/console/console-client.ts';
import { firstAdministrator } from '../helpers/console/first-administrator.ts';
import { goodPassword } from '../helpers/console/good-password.ts';
import type { ServiceProcess } from '../helpers/processes/start-process.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import type { TestServer } from '../helpers/servers/test-server.ts';
import { uniqueName } from '../helpers/unique-name.ts';
import { until } from '../helpers/until.ts';

let redis: TestServer;
let cluster: ScriptedCluster;
let other: Awaited<ReturnType<ScriptedCluster['addIngress']>>;
let runner: ServiceProcess;
/** An administrator, on the first ingress. */
let ada: ConsoleClient;

beforeAll(async () => {
  redis = await startRedis();
  cluster = await startScriptedCluster({ redisUrl: redis.url });
  [other, runner] = await Promise.all([cluster.addIngress(), cluster.addBatchRunner(), cluster.addScripted()]);
  ({ client: ada } = await firstAdministrator({ ...cluster, redisUrl: redis.url }));
});

afterAll(async () => {
  await cluster?.stop();
  await redis?.stop();
});

/** A registry with one name for the model of the scripted worker. */
const naming = (name: string): string => `models:\n  ${name}: { targets: [{ model: demo }] } # a comment\n`;

async function newest(): Promise<number> {
  return Number((await ada.get('/registry')).body.version);
}

async function store(text: string): Promise<ApiAnswer> {
  return ada.put('/registry', { text, basedOn: await newest() });
}

/** What an ingress answers to a request for this name. */
async function ask(name: string, url = cluster.url): Promise<number> {
  const answer = await post({ url, key: cluster.key, body: chatRequest([{ write: '{}' }], { model: name }) });
  await answer.text();
  return answer.status;
}

/** Whether a process has logged that it uses this version. */
function uses({ lines }: ServiceProcess, version: number): boolean {
  return lines.some((line) => line['msg'] === 'the registry was reloaded' && line['version'] === version);
}

async function versionsOf(): Promise<RegistryVersions> {
  return (await openKeyStore(redis.url, `${cluster.prefix}:`)).accounts.registryVersions;
}

describe('an edit of the registry', () => {
  it('is taken by every ingress and batch runner within a second, and so is a revert', async () => {
    const [fast, faster] = [uniqueName('fast'), uniqueName('faster')];
    expect([await ask(fast), await ask(fast, other.url)]).toEqual([404, 404]);
    const { body } = await store(naming(fast));
    const begun = performance.now();
    expect(await ask(fast)).toBe(200);
    await until(() => uses(other.process, body.version) && uses(runner, body.version));
    const storedMs = performance.now() - begun;
    expect(await ask(fast, other.url)).toBe(200);

    await store(naming(faster));
    const reverted = await ada.post('/registry/revert', { version: body.version });
    const again = performance.now();
    await until(() => uses(other.process, reverted.body.version) && uses(runner, reverted.body.version));
    // The faster of the two: other load on the machine may add to one.
    expect(Math.min(storedMs, performance.now() - again)).toBeLessThan(1_000);
    const names = await Promise.all([fast, faster].map((name) => ask(name, other.url)));
    expect(names).toEqual([200, 404]);
  });

  it('that is not announced is taken within seconds', async () => {
    const versions = await versionsOf();
    const config = { models: { quiet: { targets: [{ model: 'demo' }] } } };
    const added = await versions.add({ basedOn: await newest(), text: naming('quiet'), config, by: 'p1' });
    const number = 'stored' in added ? added.stored : 0;
    await until(() => [cluster.ingress, other.process, runner].every((process) => uses(process, number)), 6_000);
    expect([await ask('quiet'), await ask('quiet', other.url)]).toEqual([200, 200]);
  });

  it('of a release that this one cannot read leaves the previous registry in use, and the log names the reason', async () => {
    const { body: known } = await store(naming('known'));
    // Whoever reads it later than the next one is stored never gets to know it.
    await until(() => [cluster.ingress, other.process, runner].every((process) => uses(process, known.version)));
    const versions = await versionsOf();
    await versions.add({ basedOn: await newest(), text: 'moods: {}', config: { moods: {} }, by: 'p1' });
    const complaint = 'this release cannot read the stored registry: the previous one stays in use';
    for (const process of [cluster.ingress, other.process, runner])
      expect(await process.line(complaint)).toMatchObject({ problems: [expect.stringContaining('moods')] });
    expect([await ask('known'), await ask('known', other.url)]).toEqual([200, 200]);
    const late = await cluster.addIngress();
    expect(await ask('known', late.url)).toBe(200);
    await late.process.stop();
    expect((await store(naming('mended'))).status).toBe(200);
    await until(async () => (await ask('mended', other.url)) === 200);
  });
});

describe('while Redis is away', () => {
  it('the registry in use stays, and an ingress that starts meanwhile has it as soon as Redis is back', async () => {
    await store(naming('lasting'));
    await until(async () => (await ask('lasting', other.url)) === 200);
    await redis.kill();
    await other.process.line('the stored registry cannot be read');
    expect([await ask('lasting'), await ask('lasting', other.url)]).toEqual([200, 200]);
    const late = await cluster.addIngress();
    expect((await store(naming('never'))).status).toBe(503);
    await redis.restart();
    await until(async () => (await ask('lasting', late.url)) === 200);
    await until(async () => (await ada.get('/registry')).status === 200);
    expect(await late.process.line('the stored registry can be read again')).toBeDefined();
    await late.process.stop();
  });

  it('and when it comes back empty, the registry in use stays until a version is stored', async () => {
    const { connection } = await openKeyStore(redis.url, `${cluster.prefix}:`);
    await store(naming('kept'));
    await until(async () => (await ask('kept', other.url)) === 200);
    const names = await connection.redis.keys(`${cluster.prefix}:registry-version*`);
    await connection.redis.del(...names);
    const { body } = await ada.get('/registry');
    expect(body).toMatchObject({ source: 'none', version: 0 });
    // Longer than a poll.
    const since = performance.now();
    await until(() => performance.now() - since > 3_500);
    expect([await ask('kept'), await ask('kept', other.url)]).toEqual([200, 200]);
    await store(naming('anew'));
    await until(async () => (await ask('anew', other.url)) === 200);
    expect(await ask('kept', other.url)).toBe(404);
  });
});

describe('a file that ROUTER_CONFIG names', () => {
  it('is the whole registry of its node, follows its own changes, and is shown as read-only', async () => {
    await store(naming('stored'));
    const node = await cluster.addIngress(withRegistry(naming('written')));
    expect([await ask('stored', node.url), await ask('written', node.url)]).toEqual([404, 200]);
    const page = new ConsoleClient(node.url);
    await page.signIn('ada@example.com', goodPassword);
    expect((await page.get('/registry')).body).toMatchObject({
      source: 'file',
      readOnly: true,
      config: { models: { written: { targets: [{ model: 'demo' }] } } },
    });
    expect(await page.put('/registry', { text: naming('x'), basedOn: await newest() })).toMatchObject({
      status: 409,
      body: { error: { code: 'registry_read_only' } },
    });
    await node.process.stop();
  });
});
