import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import type { TestServer } from '../helpers/servers/test-server.ts';
import { until } from '../helpers/until.ts';

let redis: TestServer;
let cluster: Cluster;
let client: OpenAI;

beforeAll(async () => {
  redis = await startRedis();
  cluster = await startCluster({
    redisUrl: redis.url,
    ingress: { FILES_MAX_BYTES: String(64 * 1024 ** 2), STORE_WAIT_MS: '0' },
  });
  client = clientAt(cluster.url);
});
afterAll(async () => {
  await cluster.stop();
  await redis.stop();
});

function clientAt(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
}

async function statusOf(asked: PromiseLike<unknown>): Promise<unknown> {
  try {
    await asked;
    return 200;
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    return [error.status, error.code, error.param];
  }
}

async function outcomes(): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  const found = metrics.matchAll(/^rtr_stored_responses_total\{outcome="(\w+)".*\} (\d+)$/gm);
  return Object.fromEntries(Array.from(found, ([, outcome, count]) => [outcome, Number(count)]));
}

it('an answer whose client has left is not stored', async () => {
  const stream = await client.responses.create({
    model: 'demo',
    stream: true,
    input: 'Long.\n[demo rate=50 tokens=400]',
  });
  for await (const { type } of stream) if (type === 'response.output_text.delta') break;
  await cluster.ingress.line('client went away');
  const { connection, prefix } = await openKeyStore(redis.url, `${cluster.prefix}:`);
  expect(await connection.redis.keys(`${prefix}stored-*`)).toEqual([]);
  expect(await outcomes()).toEqual({ stored: 0, too_large: 0, failed: 0 });
});

it('an answer that failed is not stored', async () => {
  const stream = client.responses.stream({ model: 'demo', input: 'Break.\n[demo fault=drop after=5]' });
  const failed = await stream.finalResponse().then(
    ({ status }) => status,
    () => 'failed',
  );
  expect(failed).toBe('failed');
  const { connection, prefix } = await openKeyStore(redis.url, `${cluster.prefix}:`);
  expect(await connection.redis.keys(`${prefix}stored-*`)).toEqual([]);
});

it('where nothing is stored, a request that relies on it is refused', async () => {
  const { url } = await cluster.addIngress({ RESPONSES_KEEP_HOURS: '0' });
  const off = clientAt(url);
  const answer = await off.responses.create({ model: 'demo', input: 'Hello.' });
  expect(answer).toMatchObject({ status: 'completed', store: false });
  const streamed = off.responses.stream({ model: 'demo', input: 'Hello.' });
  expect(await streamed.finalResponse()).toMatchObject({ status: 'completed', store: false });
  expect(await statusOf(off.responses.retrieve(answer.id))).toEqual([404, 'not_found', null]);
  const refused = (param: string): unknown[] => [400, 'unsupported_parameter', param];
  const ask = (fields: object): Promise<unknown> =>
    statusOf(off.responses.create({ model: 'demo', input: 'Hello.', ...fields }));
  expect(await ask({ store: false })).toBe(200);
  expect(await ask({ store: true })).toEqual(refused('store'));
  expect(await ask({ previous_response_id: answer.id })).toEqual(refused('previous_response_id'));
  expect(await ask({ input: [{ type: 'item_reference', id: 'msg_1' }], store: false })).toEqual(refused('input'));
});

it('while Redis is away, answers are delivered and not stored, and stored ones answer 503', async () => {
  const before = await client.responses.create({ model: 'demo', input: 'Hello.' });
  const upload = async () =>
    client.files.create({ purpose: 'user_data', file: await toFile(Buffer.from('Read me.'), 'a.txt') });
  const file = await upload();
  await redis.kill();
  const unstored = await client.responses.create({ model: 'demo', input: 'And now?' });
  expect(unstored.status).toBe('completed');
  const streamed = client.responses.stream({ model: 'demo', input: 'And now?' });
  expect((await streamed.finalResponse()).status).toBe('completed');
  await until(async () => expect(await outcomes()).toMatchObject({ stored: 1, failed: 2 }));
  await cluster.ingress.line('a response could not be stored');
  const away = [503, 'store_unavailable', null];
  expect(await statusOf(client.responses.retrieve(before.id))).toEqual(away);
  expect(await statusOf(client.responses.delete(before.id))).toEqual(away);
  const next = { model: 'demo', input: 'And?', previous_response_id: before.id };
  expect(await statusOf(client.responses.create(next))).toEqual(away);
  const content = [{ type: 'input_file' as const, file_id: file.id }];
  const naming = client.responses.create({ model: 'demo', input: [{ role: 'user', content }], store: false });
  const asked: PromiseLike<unknown>[] = [upload(), client.files.retrieve(file.id), client.files.list(), naming];
  expect(await Promise.all(asked.map(statusOf))).toEqual(asked.map(() => away));
  await redis.restart();
  await until(async () => (await statusOf(client.responses.retrieve(before.id))) === 200);
  expect(await (await client.files.content(file.id)).text()).toBe('Read me.');
  expect(await statusOf(client.responses.create(next))).toBe(200);
  expect(await statusOf(client.responses.retrieve(unstored.id))).toEqual([404, 'not_found', null]);
});
