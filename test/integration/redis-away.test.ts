import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { chat, engineState, eventsIn, newKey, post } from '../helpers/clients/keyed-requests.ts';
import { openaiOutcome } from '../helpers/clients/openai-outcome.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import { watchRedisCommands } from '../helpers/servers/watch-redis-commands.ts';
import { least } from '../helpers/least.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

/* Requests while Redis is away, for a moment or for longer. Each test leaves it running. */

let client: OpenAI;

const redis = useStarted(() => startRedis());
const cluster = useStarted(() =>
  startCluster({ redisUrl: redis.url, ingress: { FILES_MAX_BYTES: String(64 * 1024 ** 2) } }),
);
/** Another ingress, which stores no responses. */
const other = useStarted(() => cluster.addIngress({ RESPONSES_KEEP_HOURS: '0' }));
const patient = useStarted(() => cluster.addIngress());
beforeAll(() => {
  client = clientAt(cluster.url);
});

function clientAt(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
}

const short = chat('tokens=3');

function ask(key = cluster.key, place: { url?: string; path?: string } = {}): Promise<Response> {
  return post({ url: cluster.url, key, body: { ...short, max_tokens: 9 }, ...place });
}

function send(key: string, body: object, url = cluster.url): Promise<Response> {
  return post({ url, key: cluster.key, body, headers: { 'idempotency-key': key } });
}

async function storedOutcomes(): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  const found = metrics.matchAll(/^rtr_stored_responses_total\{outcome="(\w+)".*\} (\d+)$/gm);
  return Object.fromEntries(Array.from(found, ([, outcome, count]) => [outcome, Number(count)]));
}

describe('with Redis', () => {
  it('a request without limits reads and writes nothing in it', async () => {
    expect((await ask()).status).toBe(200);
    const open = await openKeyStore(redis.url, `${cluster.prefix}:`);
    const commands: string[] = [];
    const watch = await watchRedisCommands(redis.url, ([command, ...args], isOfScript) => {
      if (!isOfScript && args.some((arg) => arg.includes(cluster.prefix))) commands.push(`${command} ${args[0]}`);
    });
    for (let count = 0; count < 50; count++) await ask();
    // The ledger may write after this command.
    const last = `get ${cluster.prefix}:last`;
    await open.redis.get(`${cluster.prefix}:last`);
    await until(() => commands.includes(last));
    watch.stop();
    // The ingress checks every few seconds that the store is still the same, takes writes, holds the cluster's secret, and has no new
    // registry.
    const storeWatch =
      /^(get \S+:store-(id|accepted)|exists \S+:keys|lpushx \S+:write-check|(setnx|get) \S+:cluster-secret|zrevrange \S+:registry-versions)$/;
    const perRequest = commands.filter((command) => !storeWatch.test(command));
    // The ledger writes batches, behind the requests.
    const others = perRequest.filter((command) => command !== last && !/^eval(sha)? /.test(command));
    // Read or written every 30 or 60 seconds, so at most once in this time, however many requests there are.
    const names = accountNames(`${cluster.prefix}:`);
    const timed = [`hgetall ${cluster.prefix}:prices`, `hgetall ${names.key(cluster.keyId)}`, `hset ${names.keyUses}`];
    expect(timed).toEqual(expect.arrayContaining(others));
    expect(new Set(others).size).toBe(others.length);
    // The ledger writes a batch at intervals, so the number grows with the time that the 50 requests take.
    expect(perRequest.length).toBeLessThan(50);
  });

  it('an answer whose client has left, and one that failed, are not stored', async () => {
    const long = { model: 'demo', stream: true, input: 'Long.\n[demo rate=50 tokens=400]' } as const;
    const stream = await client.responses.create(long);
    for await (const { type } of stream) if (type === 'response.output_text.delta') break;
    await cluster.ingress.line('client went away');
    const failed = client.responses.stream({ model: 'demo', input: 'Break.\n[demo fault=drop after=5]' });
    const status = await failed.finalResponse().then(
      (answer) => answer.status,
      () => 'failed',
    );
    expect(status).toBe('failed');
    const open = await openKeyStore(redis.url, `${cluster.prefix}:`);
    expect(await open.redis.keys(`${open.prefix}stored-*`)).toEqual([]);
    expect(await storedOutcomes()).toEqual({ stored: 0, too_large: 0, failed: 0 });
  });
});

describe('while Redis is away for longer than requests wait', () => {
  const away = [503, 'store_unavailable', null];
  const upload = async () =>
    client.files.create({ purpose: 'user_data', file: await toFile(Buffer.from('Read me.'), 'a.txt') });
  let limited: Awaited<ReturnType<Cluster['addKey']>>;
  let before: OpenAI.Responses.Response;
  let unstored: OpenAI.Responses.Response;
  let file: OpenAI.FileObject;
  /** The answer to a request with an idempotency key that is running. */
  let running: Promise<string>;
  let started: number;
  let lostAt: number;
  const next = () => ({ model: 'demo', input: 'And?', previous_response_id: before.id });

  beforeAll(async () => {
    limited = await cluster.addKey({ limits: { requestsPerMinute: 1_000 } });
    expect((await ask(limited.raw)).status).toBe(200);
    before = await client.responses.create({ model: 'demo', input: 'Hello.' });
    file = await upload();
    ({ started } = await engineState(cluster));
    running = send(newKey(), chat('tokens=90 rate=30', { stream: true })).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    lostAt = performance.now();
    await redis.kill();
  });

  it('requests with limits wait and are refused, then all others at once; those without are served', async () => {
    expect((await ask(limited.raw)).status).toBe(503);
    expect(performance.now() - lostAt).toBeGreaterThan(4_500);
    const refuse = async (): Promise<number> => {
      const again = performance.now();
      const messages = { path: '/anthropic/v1/messages' };
      const answers = await Promise.all([ask(limited.raw), ask(limited.raw, messages)]);
      const refusedAfterMs = performance.now() - again;
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      expect(Number(answers[0].headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await answers[0].json()).toMatchObject({ error: { code: 'store_unavailable' } });
      expect(await answers[1].json()).toMatchObject({ type: 'error', error: { type: 'api_error' } });
      return refusedAfterMs;
    };
    // Less than the five seconds of those before.
    expect(await least(refuse, 3_000)).toBeLessThan(3_000);
    expect((await ask()).status).toBe(200);
  });

  it('a request with an idempotency key is refused, and one that runs goes on for its client', async () => {
    const refused = await send(newKey(), short);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    const events = eventsIn(await running);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at));
    expect(events.at(-1)?.data).toBe('[DONE]');
    // The request without limits counts, too.
    expect((await engineState(cluster)).started).toBe(started + 2);
  });

  it('answers are delivered and not stored, and stored ones and files answer 503', async () => {
    const { failed = 0 } = await storedOutcomes();
    unstored = await client.responses.create({ model: 'demo', input: 'And now?' });
    expect(unstored.status).toBe('completed');
    const streamed = client.responses.stream({ model: 'demo', input: 'And now?' });
    expect((await streamed.finalResponse()).status).toBe('completed');
    await until(async () => expect(await storedOutcomes()).toMatchObject({ stored: 1, failed: failed + 2 }));
    await cluster.ingress.line('a response could not be stored');
    const content = [{ type: 'input_file' as const, file_id: file.id }];
    const naming = client.responses.create({ model: 'demo', input: [{ role: 'user', content }], store: false });
    const asked: PromiseLike<unknown>[] = [
      client.responses.retrieve(before.id),
      client.responses.delete(before.id),
      client.responses.create(next()),
      upload(),
      client.files.retrieve(file.id),
      client.files.list(),
      naming,
    ];
    expect(await Promise.all(asked.map(openaiOutcome))).toEqual(asked.map(() => away));
  });

  it('nothing is lost, and everything is served again when it is back', async () => {
    await redis.restart();
    await until(async () => (await ask(limited.raw)).status === 200);
    await until(async () => (await openaiOutcome(client.responses.retrieve(before.id))) === 200);
    expect(await (await client.files.content(file.id)).text()).toBe('Read me.');
    expect(await openaiOutcome(client.responses.create(next()))).toBe(200);
    expect(await openaiOutcome(client.responses.retrieve(unstored.id))).toEqual([404, 'not_found', null]);
    const open = await openKeyStore(redis.url, `${cluster.prefix}:`);
    const month = `${cluster.prefix}:limit:key:${limited.id}:${new Date().toISOString().slice(0, 7)}`;
    // Answers do not wait for their charges.
    await until(async () => Number(await open.redis.hget(month, 'tokens')) > 0);
  });
});

describe('a restart of Redis', () => {
  /** An ingress of little memory, with room for a hundred requests: one key gets ninety. */
  let narrow: string;
  const placesOfKey = 90;
  beforeAll(async () => {
    ({ url: narrow } = await cluster.addIngress({ MEMORY_BYTES: String(8 * 1024 * 1024) }));
    for (const url of [patient.url, other.url, narrow])
      await until(async () => (await send(newKey(), short, url)).status === 200);
  });

  it('fails no request: of a limited key, of a key that is not known yet, and one that continues a stored response', async () => {
    const limited = await cluster.addKey({ limits: { requestsPerMinute: 1_000 } });
    const unknown = await cluster.addKey({});
    expect((await ask(limited.raw, patient)).status).toBe(200);
    const { responses } = clientAt(patient.url);
    const { id } = await responses.create({ model: 'demo', input: 'Remember this.' });
    const key = newKey();
    const { started } = await engineState(cluster);

    const asked: Promise<unknown>[] = [];
    const askAll = (): void => {
      const next = { model: 'demo', input: 'Go on.', previous_response_id: id, store: false };
      const answers = [limited, unknown].map(async ({ raw }) => (await ask(raw, patient)).status);
      asked.push(...answers, openaiOutcome(responses.create(next)));
    };
    // Some requests are running when Redis stops.
    askAll();
    const killed = redis.kill();
    askAll();
    await killed;
    const keyed = [patient.url, other.url].map(async (url) => (await send(key, short, url)).status);
    for (let round = 0; round < 3; round += 1) {
      askAll();
      await sleep(200);
    }
    await redis.restart();
    for (const status of await Promise.all([...asked, ...keyed])) expect(status).toBe(200);
    // One of the two with the same key.
    expect((await engineState(cluster)).started).toBe(started + asked.length + 1);
  });

  it('loses nothing of an answer for whose key somebody joined, and nobody loses or doubles an event', async () => {
    const key = newKey();
    const body = chat('tokens=120 rate=30', { stream: true });
    const { started } = await engineState(cluster);
    const first = send(key, body, patient.url).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    const joined = send(key, body, other.url).then((answer) => answer.text());
    await sleep(700);
    await redis.kill();
    await sleep(300);
    await redis.restart();
    const texts = await Promise.all([first, joined]);
    expect(eventsIn(texts[1])).toEqual(eventsIn(texts[0]));
    expect(eventsIn(texts[0]).at(-1)?.data).toBe('[DONE]');
    expect(eventsIn(await (await send(key, body, other.url)).text())).toEqual(eventsIn(texts[0]));
    expect((await engineState(cluster)).started).toBe(started + 1);
  });

  /** Sends requests while Redis does not answer, and disconnects. */
  async function leave(url: string, path: string, init: RequestInit, count = 1): Promise<void> {
    await redis.pause();
    const client = new AbortController();
    const ask = () => fetch(`${url}/api/openai/v1/${path}`, { method: 'POST', ...init, signal: client.signal });
    const outcomes = Array.from({ length: count }, () => ask().catch(() => 'left'));
    await sleep(300);
    client.abort();
    expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => 'left'));
    await sleep(100);
    await redis.resume();
  }

  const json = { 'content-type': 'application/json' };

  it('leaves no memory held for a request whose client leaves before it has its idempotency key', async () => {
    const key = newKey();
    const { started } = await engineState(cluster);
    const headers = { authorization: `Bearer ${cluster.key}`, 'idempotency-key': key, ...json };
    await leave(cluster.url, 'chat/completions', { headers, body: JSON.stringify(short) });
    const answer = await send(key, short, other.url);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((await engineState(cluster)).started).toBe(started + 1);
    await until(async () => {
      const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
      return /^rtr_open_requests(?:\{[^}]*\})? 0$/m.test(metrics);
    });
  });

  const batch = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' };
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('file', new Blob(['{}']), 'a.jsonl');

  it.each([
    ['chat/completions', JSON.stringify(short)],
    ['batches', JSON.stringify(batch)],
    ['files', form],
  ])('leaves no place held for a client that leaves while its account is looked up, of %s', async (path, body) => {
    const { raw } = await cluster.addKey({});
    const { started } = await engineState(cluster);
    const headers = { authorization: `Bearer ${raw}`, 'idempotency-key': newKey(), ...(path !== 'files' && json) };
    await leave(narrow, path, { headers, body }, placesOfKey);
    // A place is free once the work for a client that has left is over, and nothing was executed.
    let served = 0;
    const isServed = async (): Promise<boolean> => {
      const { ok } = await post({ url: narrow, key: raw, body: short });
      served += Number(ok);
      return ok;
    };
    await until(isServed);
    await sleep(300);
    await until(isServed);
    expect(await isServed()).toBe(true);
    expect((await engineState(cluster)).started).toBe(started + served);
  });
});

describe('an ingress that stores nothing', () => {
  it('refuses a request that relies on stored responses', async () => {
    const off = clientAt(other.url);
    const answer = await off.responses.create({ model: 'demo', input: 'Hello.' });
    expect(answer).toMatchObject({ status: 'completed', store: false });
    const streamed = off.responses.stream({ model: 'demo', input: 'Hello.' });
    expect(await streamed.finalResponse()).toMatchObject({ status: 'completed', store: false });
    expect(await openaiOutcome(off.responses.retrieve(answer.id))).toEqual([404, 'not_found', null]);
    const refused = (param: string): unknown[] => [400, 'unsupported_parameter', param];
    const create = (fields: object): Promise<unknown> =>
      openaiOutcome(off.responses.create({ model: 'demo', input: 'Hello.', ...fields }));
    expect(await create({ store: false })).toBe(200);
    expect(await create({ store: true })).toEqual(refused('store'));
    expect(await create({ previous_response_id: answer.id })).toEqual(refused('previous_response_id'));
    expect(await create({ input: [{ type: 'item_reference', id: 'msg_1' }], store: false })).toEqual(refused('input'));
  });
});
