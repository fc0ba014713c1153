import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { useRedis } from '../helpers/accounts/use-redis.ts';
import { deviceGrant, postForm, refresh, signInProgram, type SignedIn } from '../helpers/clients/device-flow.ts';
import { chat, newKey, post } from '../helpers/clients/keyed-requests.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { adminOf, metricOf } from '../helpers/cluster/worker-admin.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { firstAdministrator } from '../helpers/console/first-administrator.ts';
import { goodPassword } from '../helpers/console/good-password.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

/* A Redis that answers and refuses writes, because its memory is full. */

const redis = useStarted(() => startRedis());
const cluster = useStarted(() => startCluster({ redisUrl: redis.url }));
let runnerUrl: string;
let client: OpenAI;
let ada: ConsoleClient;
let limited: Awaited<ReturnType<Cluster['addKey']>>;
let unused: Awaited<ReturnType<Cluster['addKey']>>;
let program: SignedIn;
let deviceCode: string;
let file: OpenAI.FileObject;
let stored: OpenAI.Responses.Response;

const setMemory = (bytes: number) => useRedis((open) => open.config('SET', 'maxmemory', String(bytes)), redis.url);
const short = chat('tokens=3', { max_tokens: 9 });
const ask = (key = cluster.key, path?: string) =>
  post({ url: cluster.url, key, body: short, ...(path !== undefined && { path }) });

beforeAll(async () => {
  runnerUrl = await adminOf(await cluster.addBatchRunner({ ADMIN_PORT: '0' }));
  ({ client: ada } = await firstAdministrator({ ...cluster, redisUrl: redis.url }));
  limited = await cluster.addKey({ limits: { requestsPerMinute: 1_000 } });
  unused = await cluster.addKey({});
  program = await signInProgram(cluster.url, ada);
  deviceCode = (await postForm(`${cluster.url}/oauth/device_authorization`, { client_id: 'a test' })).body.device_code;
  client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  file = await client.files.create({ purpose: 'user_data', file: await toFile(Buffer.from('Read me.'), 'a.txt') });
  stored = await client.responses.create({ model: 'demo', input: 'Hello.' });
  expect((await ask(limited.raw)).status).toBe(200);
  await setMemory(1);
});

const healthAt = async (url: string) => {
  const answer = await fetch(`${url}/health`);
  return { code: answer.status, ...((await answer.json()) as object) };
};
const untilHealthy = (state: object) =>
  until(async () => {
    for (const url of [cluster.url, cluster.adminUrl, runnerUrl]) expect(await healthAt(url)).toMatchObject(state);
  });
const upMetrics = async () =>
  Promise.all([cluster.adminUrl, runnerUrl].map((url) => metricOf(url, 'rtr_dependency_up{dependency="redis"}')));

describe('while Redis refuses writes', () => {
  it('ingress and batch runner say so, and stay ready', async () => {
    await untilHealthy({ code: 200, status: 'degraded', redis: true, store: 'read_only' });
    expect(await upMetrics()).toEqual([0, 0]);
    await cluster.ingress.line('redis refuses writes');
  });

  it('keys without limits are served, whether they were used before or not, and what is stored is read', async () => {
    for (const key of [cluster.key, unused.raw, program.accessToken]) expect((await ask(key)).status).toBe(200);
    const next = { model: 'demo', input: 'And?', previous_response_id: stored.id };
    expect((await client.responses.create(next)).status).toBe('completed');
    expect(await (await client.files.content(file.id)).text()).toBe('Read me.');
  });

  const form = (): FormData => {
    const fields = new FormData();
    fields.append('purpose', 'user_data');
    fields.append('file', new Blob(['{}']), 'a.txt');
    return fields;
  };
  const send = (path: string, body: object, headers = {}) =>
    post({ url: cluster.url, key: cluster.key, path, body, headers });
  const remove = (path: string) =>
    fetch(`${cluster.url}/api${path}`, { method: 'DELETE', headers: { authorization: `Bearer ${cluster.key}` } });
  const inlineBatch = { requests: [{ custom_id: '1', params: short }] };

  it.each<[string, () => Promise<Response>]>([
    ['a request with limits', () => ask(limited.raw)],
    ['a request with limits', () => ask(limited.raw, '/anthropic/v1/messages')],
    ['an idempotency key', () => send('/openai/v1/chat/completions', short, { 'idempotency-key': newKey() })],
    ['an idempotency key', () => send('/anthropic/v1/messages', short, { 'idempotency-key': newKey() })],
    ['a background response', () => send('/openai/v1/responses', { model: 'demo', input: 'a', background: true })],
    ['an upload', () => send('/openai/v1/files', form())],
    ['an upload', () => send('/anthropic/v1/files', form())],
    ['a deletion', () => remove(`/openai/v1/files/${file.id}`)],
    ['a batch', () => send('/anthropic/v1/messages/batches', inlineBatch)],
  ])('%s gets 503 in the format of the client', async (_, act) => {
    const answer = await act();
    expect([answer.status, Number(answer.headers.get('retry-after'))]).toEqual([503, 2]);
    const { error, ...others } = (await answer.json()) as { error: { message: string } };
    expect(error).toMatchObject('type' in others ? { type: 'api_error' } : { code: 'store_unavailable' });
    expect(error.message).toBe('The account store takes no changes at this time. Please try again soon.');
  });

  it.each<[string, () => Promise<{ status: number; headers: Headers; body: unknown }>]>([
    ['its session', () => ada.get('/session')],
    ['a sign-in', () => new ConsoleClient(cluster.url).signIn('ada@example.com', goodPassword)],
    ['a sign-in with a wrong password', () => new ConsoleClient(cluster.url).signIn('ada@example.com', 'wrong')],
    ['a new key', () => ada.post('/keys', { name: 'k' })],
  ])('the console answers 503 to %s', async (_, act) => {
    const { status, headers, body } = await act();
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect(body).toMatchObject({ error: { code: 'store_unavailable' } });
  });

  it('programs are asked to sign in later, and are not signed out', async () => {
    const token = postForm(`${cluster.url}/oauth/token`, { grant_type: deviceGrant, device_code: deviceCode });
    for (const { status, body, headers } of [await token, await refresh(cluster.url, program.refreshToken)]) {
      expect([status, body.error, headers.get('retry-after')]).toEqual([503, 'temporarily_unavailable', '2']);
    }
  });

  it('all goes on when it takes writes again, and what was served meanwhile is in the ledger', async () => {
    await sleep(1_000);
    await setMemory(0);
    await untilHealthy({ code: 200, status: 'ok', store: 'intact' });
    expect(await upMetrics()).toEqual([1, 1]);
    expect((await ask(limited.raw)).status).toBe(200);
    expect((await ada.get('/session')).status).toBe(200);
    expect((await refresh(cluster.url, program.refreshToken)).status).toBe(200);
    const usedBy = (key: string) => readUsage(cluster.prefix, key, redis.url);
    await until(async () => expect(await usedBy(unused.id)).toHaveLength(1));
  });
});
