import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openAccounts, type Accounts } from '#shared/accounts/accounts.ts';
import { connectRedis, type RedisConnection } from '#shared/store/redis/connect-redis.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { ConsoleClient } from '../../../helpers/console/console-client.ts';
import { readAllValues } from '../../../helpers/accounts/read-all-values.ts';
import { startScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { linkPath } from '../../../helpers/console/link-path.ts';
import { denied, refusal } from '../../../helpers/console/refusals.ts';
import { statusWith } from '../../../helpers/clients/status-with.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { least } from '../../../helpers/least.ts';
import { uniqueName } from '../../../helpers/unique-name.ts';
import { until } from '../../../helpers/until.ts';
import { startNats } from '../../../helpers/servers/start-nats.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const PUBLIC_URL = 'https://llm.example.com';

let connection: RedisConnection;
let accounts: Accounts;
let ada: ConsoleClient;
let adaId: string;
let linkToken: string;

const cluster = useStarted(() => startScriptedCluster({ ingress: { PUBLIC_URL } }));
/** A second node, which trusts this machine as a proxy. */
const other = useStarted(() => cluster.addIngress({ TRUSTED_PROXIES: '127.0.0.1' }));
beforeAll(async () => {
  await cluster.addScripted();
  connection = connectRedis(inject('redisUrl'), { log: silentLog, name: 'test' });
  await connection.whenReady(AbortSignal.timeout(30_000));
  accounts = openAccounts(connection.redis, `${cluster.prefix}:`);
  ada = new ConsoleClient(cluster.url);
  linkToken = (await accounts.links.issueFirstAdmin()) ?? '';
  const given = { name: 'Ada', email: 'ada@example.com', password: goodPassword };
  const { body } = await ada.post(`/links/${linkToken}`, given);
  adaId = String(body.user.id);
});
afterAll(() => connection.close());

const sessionOf = ({ cookie = '', csrfToken = '' }: ConsoleClient) => ({ cookie, 'x-csrf-token': csrfToken });

/** Sends a request as a page of the console does. */
async function asPage(url: string, headers: object = {}, session: object = sessionOf(ada)) {
  const answer = await fetch(url, { headers: { ...session, ...headers } });
  return { status: answer.status, body: await answer.json() };
}

it('a page of the console uses every format as the signed-in person', async () => {
  for (const path of ['/api/openai/v1/models', '/api/anthropic/v1/models', '/api/tools/v1/list'])
    expect((await asPage(cluster.url + path)).status).toBe(200);
  const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { ...sessionOf(ada), 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello.' }], steps: [] }),
  });
  await answer.text();
  await until(() => cluster.ingress.lines.some(({ keyId }) => keyId === `session:${adaId}`));
});

it('a page of the console is refused without a session, from another site, and after its session has ended', async () => {
  const url = `${cluster.url}/api/openai/v1/models`;
  const missing = { status: 401, body: { error: { code: null } } };
  expect(await asPage(url, {}, { cookie: ada.cookie })).toMatchObject(missing);
  expect(await asPage(url, {}, { 'x-csrf-token': ada.csrfToken })).toMatchObject(missing);
  const wrongs = [{ 'x-csrf-token': 'wrong' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }];
  for (const wrong of wrongs) expect(await asPage(url, wrong)).toMatchObject(denied);
  const second = new ConsoleClient(cluster.url);
  await second.signIn('ada@example.com', goodPassword);
  const session = sessionOf(second);
  await second.delete('/session');
  const ended = await asPage(url, {}, session);
  expect(ended).toMatchObject(refusal(401, 'invalid_api_key'));
  expect(ended).toMatchObject({ body: { error: { message: 'Your session has ended. Please sign in again.' } } });
});

it('a page of the console is ignored if the request has a key, valid or not', async () => {
  const url = `${cluster.url}/api/openai/v1/models`;
  expect((await asPage(url, { authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await asPage(url, { authorization: 'Basic abc' })).status).toBe(401);
  expect((await asPage(`${cluster.url}/api/anthropic/v1/models`, { 'x-api-key': 'wrong' })).status).toBe(401);
  expect((await asPage(url, { authorization: `Bearer ${cluster.key}`, 'x-csrf-token': 'wrong' })).status).toBe(200);
});

/** An action that works on a node until the node has received a change. */
type Use = (url: string) => Promise<number>;

async function newKey(client = ada, of: object = { kind: 'user' }) {
  const { body } = await client.post('/keys', { name: 'k', class: 'normal', limits: {}, ...of });
  const use: Use = (url) => statusWith(url, body.raw);
  return { id: String(body.key.id), raw: String(body.raw), use };
}

/** Changes in the console: the actions that work before each of them, and how to make it. */
const changes: Record<string, () => Promise<{ uses: Use[]; change: () => Promise<{ status: number }> }>> = {
  'a revoked key': async () => {
    const { id, use } = await newKey();
    return { uses: [use], change: () => ada.delete(`/keys/${id}`) };
  },
  'a key that was rotated without overlap': async () => {
    const { id, use } = await newKey();
    return { uses: [use], change: () => ada.post(`/keys/${id}/rotate`, { overlapMs: 0 }) };
  },
  'a blocked person': async () => {
    const { body } = await ada.post('/invitations', { email: `${uniqueName('bob')}@example.com`, role: 'member' });
    const bob = new ConsoleClient(other.url);
    const { body: session } = await bob.post(linkPath(body.link), { name: 'Bob', password: goodPassword });
    const { use } = await newKey(bob);
    const visit: Use = async (url) => (await asPage(`${url}/api/openai/v1/models`, {}, sessionOf(bob))).status;
    return { uses: [use, visit], change: () => ada.patch(`/users/${session.user.id}`, { blocked: true }) };
  },
  'a deleted team': async () => {
    const { body: team } = await ada.post('/teams', { name: uniqueName('Blue') });
    const { use } = await newKey(ada, { kind: 'team', teamId: team.id });
    return { uses: [use], change: () => ada.delete(`/teams/${team.id}`) };
  },
};

describe('a change in the console', () => {
  it.each(Object.entries(changes))('is known to every ingress within a second: %s', async (_, prepare) => {
    const know = async (): Promise<number> => {
      const { uses, change } = await prepare();
      const all = () => Promise.all(uses.flatMap((use) => [use(cluster.url), use(other.url)]));
      expect(new Set(await all())).toEqual(new Set([200]));
      expect((await change()).status).toBeLessThan(300);
      const changedAt = performance.now();
      await until(async () => (await all()).every((status) => status === 401));
      return performance.now() - changedAt;
    };
    expect(await least(know, 1_000)).toBeLessThan(1_000);
  });

  it('is made while the broker is away, and takes effect here at once', async () => {
    const nats = stopAfterTest(await startNats());
    const here = stopAfterTest(await startScriptedCluster({ natsUrl: nats.url }));
    const admin = new ConsoleClient(here.url);
    const token = await openAccounts(connection.redis, `${here.prefix}:`).links.issueFirstAdmin();
    await admin.post(`/links/${token}`, { name: 'Ada', email: 'ada@example.com', password: goodPassword });
    expect(await statusWith(here.url, here.key)).toBe(200);
    await nats.kill();
    expect((await admin.delete(`/keys/${here.keyId}`)).status).toBe(204);
    expect(await statusWith(here.url, here.key)).toBe(401);
    await here.ingress.line('other ingress nodes may not know of a key change for 30 s');
  });
});

it('an ingress behind TLS warns if no proxy is trusted, because cookies would lack Secure', async () => {
  const warnings = [cluster.ingress, other.process].map(({ lines }) =>
    lines.filter(({ msg }) => String(msg).includes('TRUSTED_PROXIES')),
  );
  expect(warnings).toMatchObject([[{ level: 40 }], []]);
  const headers = { 'x-forwarded-proto': 'https' };
  const signIn = (url: string) =>
    new ConsoleClient(url).ask('POST', '/session', { email: 'ada@example.com', password: goodPassword }, headers);
  expect((await signIn(cluster.url)).headers.get('set-cookie')).not.toContain('Secure');
  expect((await signIn(other.url)).headers.get('set-cookie')).toMatch(/^__Host-rtr=.*; Secure/);
});

it('the data of an ingress has the last use of a key to the minute, without delaying the request', async () => {
  const { id, use } = await newKey();
  const listed = async () => (await ada.get('/keys')).body.find((key: { id: string }) => key.id === id);
  expect((await listed()).lastUsedAt).toBeUndefined();
  await use(cluster.url);
  await until(async () => (await listed()).lastUsedAt !== undefined);
  expect((await listed()).lastUsedAt % 60_000).toBe(0);
});

it('the data of an ingress has no secret, neither in Redis nor in the log', async () => {
  const wanted = { email: 'eve@example.com', role: 'member', invitedBy: adaId, usableMs: 60_000 } as const;
  const spare = made(await accounts.invitations.create(wanted));
  const reset = await accounts.links.issuePassword(adaId);
  const { raw, use } = await newKey();
  await use(cluster.url);
  // Too weak to be accepted as a new password.
  const guess = 'qwertyuiopqwertyuiop';
  await new ConsoleClient(cluster.url).signIn('ada@example.com', guess);
  await new ConsoleClient(cluster.url).ask('POST', '/session', `{"password": "${guess}`);
  for (const token of [linkToken, spare.token, reset]) {
    // Pages are requested at these addresses, too.
    await (await fetch(`${cluster.url}/link/${token}`)).text();
    await new ConsoleClient(cluster.url).post(`/links/${token}`, { name: 'x', email: 'x', password: guess });
  }
  const next = 'quiet-lantern-oyster-77';
  expect((await ada.post('/password', { current: goodPassword, next })).status).toBe(200);
  const sessionKeys = [ada.sessionId, ada.csrfToken ?? '', raw, raw.slice(-40)];
  const secrets = [goodPassword, next, guess, linkToken, spare.token, reset, ...sessionKeys];
  const stored = await readAllValues(connection.redis, `${cluster.prefix}:`);
  const logged = [cluster, { ingress: other.process }].map(({ ingress }) => JSON.stringify(ingress.lines)).join();
  expect(stored).toContain(adaId);
  expect(logged).toContain('/link/…');
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(15);
    expect(stored).not.toContain(secret);
    expect(logged).not.toContain(secret);
  }
});
