import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, inject, it } from 'vitest';
import { openRaw, readRawAnswer } from '../helpers/clients/raw-http.ts';
import { get, post } from '../helpers/clients/keyed-requests.ts';
import { createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import type { Limits } from '#shared/accounts/limits/limits.ts';
import { made } from '../helpers/accounts/made.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { commonIngress } from '../helpers/cluster/common-ingress.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { uniqueName } from '../helpers/unique-name.ts';
import { until } from '../helpers/until.ts';

const cluster = useCluster({ ingress: commonIngress() });

const hi = [{ role: 'user' as const, content: 'Hi' }];
const hello = { model: 'demo', max_tokens: 50, messages: [{ role: 'user', content: 'Hello!' }] };

const ask = (key: string, fields: object = {}, init: { signal?: AbortSignal; url?: string } = {}): Promise<Response> =>
  post({ url: cluster.url, key, path: '/openai/chat/completions', body: { ...hello, ...fields }, ...init });

const askMessages = (key: string, fields: object = {}): Promise<Response> =>
  post({ ...cluster, key, path: '/anthropic/v1/messages', body: { ...hello, ...fields } });

const openStore = () => openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);

/** Returns the counts of a key's limits in Redis, by period. */
async function useOf(id: string): Promise<Record<string, Record<string, string>>> {
  const { redis } = await openStore();
  const names = await redis.keys(`${cluster.prefix}:limit:key:${id}:*`);
  const uses = await Promise.all(names.map(async (name) => [name, await redis.hgetall(name)] as const));
  return Object.fromEntries(uses.map(([name, use]) => [name.split(':').slice(4).join(':'), use]));
}

/** Waits until the use of a key in this month is written. */
const untilCounted = (id: string) =>
  until(async () => Number((await useOf(id))[new Date().toISOString().slice(0, 7)]?.['tokens'] ?? 0) > 0);

/** Creates a key with limits of its own, of a team that has limits, too. */
async function keyOfTeam(limits: Limits, shared: Limits): Promise<string> {
  const { store, accounts } = await openStore();
  const { id: ownerId } = await accounts.teams.create(uniqueName('Blue'));
  await accounts.teams.change(ownerId, { limits: shared });
  return made(await createOwnedKey(store, { kind: 'team', name: 'shared', class: 'normal', limits, ownerId })).rawKey;
}

it('a key beyond its requests a minute is refused before its body has come', async () => {
  const { raw: key } = await cluster.addKey({ limits: { requestsPerMinute: 1 } });
  expect((await ask(key)).status).toBe(200);
  await until(async () => {
    expect((await ask(key)).status).toBe(429);
    const { socket, text, closed } = await openRaw(cluster.url);
    const head = 'POST /api/openai/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 30000000\r\n';
    socket.write(`${head}authorization: Bearer ${key}\r\n\r\n{"model":`);
    await Promise.race([closed, until(() => text().includes('rate_limit_exceeded'), 10_000)]);
    expect(readRawAnswer(text())).toMatchObject({ status: 429 });
    socket.destroy();
  });
});

it('a key beyond its requests a minute still gets earlier answers and places in the background, which cost no request', async () => {
  const { raw: key } = await cluster.addKey({ limits: { requestsPerMinute: 1 } });
  const again = () =>
    post({ ...cluster, key, body: hello, headers: { 'idempotency-key': 'once' }, path: '/openai/chat/completions' });
  const first = await again();
  expect(first.status).toBe(200);
  const { id } = (await first.json()) as { id: string };
  expect((await ask(key)).status).toBe(429);
  const repeated = await again();
  expect([repeated.status, ((await repeated.json()) as { id: string }).id]).toEqual([200, id]);
  expect((await ask(key)).status).toBe(429);
  const background = { model: 'demo', input: 'Hello!', background: true };
  expect((await post({ ...cluster, key, path: '/openai/v1/responses', body: background })).status).toBe(200);
});

it('an answer is repeated ten times, and then each repetition costs a request', async () => {
  const { raw: key } = await cluster.addKey({ limits: { requestsPerMinute: 1, concurrentRequests: 1 } });
  const headers = { 'idempotency-key': 'once' };
  const again = () => post({ ...cluster, key, body: hello, headers, path: '/openai/chat/completions' });
  // Reading from the store takes part of a minute on a busy machine, in which a part of a request becomes available again.
  for (let count = 0; count <= 10; count += 1) expect((await again()).status).toBe(200);
  await until(async () => {
    const answer = await again();
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });
});

it.each([
  ['names a file', '/openai/v1/batches'],
  ['has its requests in its body', '/anthropic/v1/messages/batches'],
])('a batch that %s costs a request a minute, and needs no place among concurrent requests', async (_, path) => {
  const { raw: key } = await cluster.addKey({ limits: { requestsPerMinute: 3, concurrentRequests: 1 } });
  const form = new FormData();
  form.append('purpose', 'batch');
  const line = JSON.stringify({ custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: hello });
  form.append('file', new Blob([line]), 'a.jsonl');
  const { id } = (await (await post({ ...cluster, key, path: '/openai/v1/files', body: form })).json()) as {
    id: string;
  };
  const fromFile = { input_file_id: id, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const body = path.startsWith('/openai') ? fromFile : { requests: [{ custom_id: '1', params: hello }] };
  const leaving = new AbortController();
  const messages = [{ role: 'user', content: 'Hi\n[demo tokens=5000 rate=20]' }];
  const running = await ask(key, { messages, max_tokens: 5_000, stream: true }, leaving);
  const statuses = [];
  for (let count = 0; count < 3; count += 1) statuses.push((await post({ ...cluster, key, path, body })).status);
  expect([running.status, ...statuses]).toEqual([200, 200, 200, 429]);
  leaving.abort();
});

describe('a budget', () => {
  it('for ten is spent by exactly ten of 200 requests at once, on two nodes', { timeout: 60_000 }, async () => {
    const answer = (await (await ask(cluster.key)).json()) as { usage: Record<string, number> };
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = answer.usage;
    const nano = prompt * 1_000 + completion * 2_000;
    // The reservation of the tenth request after nine commits, and half the cost of one request: too little for an eleventh.
    const held = 8 * 1_000 + 50 * 2_000;
    const costPerDay = (nano * 9.5 + held) / 1e9;
    const urls = [cluster.url, (await cluster.otherIngress()).url];
    const { raw, id } = await cluster.addKey({ limits: { costPerDay } });

    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        for (;;) {
          const got = await ask(raw, {}, { url: urls[index % 2] ?? '' });
          const body = (await got.json()) as { error?: { code: string } };
          // Other requests hold reservations of the rest of the budget until they commit; a busy machine may refuse some for a moment.
          if (body.error?.code === 'rate_limit_exceeded' || got.status === 503) continue;
          return got.status === 200 ? 'served' : body.error?.code;
        }
      }),
    );
    expect(outcomes.filter((outcome) => outcome === 'served')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'insufficient_quota')).toHaveLength(190);
    const day = String(Math.floor(Date.now() / 86_400_000));
    const { [day]: spent } = await useOf(id);
    expect(spent).toMatchObject({ cost: String(nano * 10), tokens: String((prompt + completion) * 10) });
    expect(Number(spent?.['reservedCost'])).toBe(0);
  });

  it('that is used up is reported in both formats, with the time of its renewal, and without a retry', async () => {
    const { raw, id } = await cluster.addKey({ limits: { tokensPerMonth: 120 } });
    expect((await ask(raw)).status).toBe(200);
    await untilCounted(id);
    await ask(raw, { max_tokens: 30 });
    const chat = await ask(raw, { max_tokens: 90 });
    expect(chat.status).toBe(429);
    expect(chat.headers.get('x-should-retry')).toBe('false');
    expect(Number(chat.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await chat.json()).toMatchObject({ error: { type: 'insufficient_quota', code: 'insufficient_quota' } });
    const messages = await askMessages(raw, { max_tokens: 90 });
    expect(messages.status).toBe(429);
    expect(messages.headers.get('x-should-retry')).toBe('false');
    expect(await messages.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
  });

  it('and a rate are shared by a rotated key, while both keys work and afterwards', async () => {
    const { raw, id } = await cluster.addKey({ limits: { tokensPerMonth: 120, requestsPerMinute: 3 } });
    expect((await ask(raw, { max_tokens: 30 })).status).toBe(200);
    const { store } = await openStore();
    const rotate = async (old: string, overlapMs: number) =>
      made(await rotateKey(store, made(await store.find(old)), { createdBy: 'nobody', overlapMs }));
    const second = await rotate(id, 60_000);
    const third = await rotate(second.record.id, 0);
    await untilCounted(id);
    // More than the rest of the month, though not more than the whole limit.
    const beyond = await ask(third.rawKey, { max_tokens: 90 });
    expect(await beyond.json()).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect((await ask(third.rawKey, { max_tokens: 10 })).status).toBe(200);
    expect((await ask(raw, { max_tokens: 10 })).status).toBe(200);
    const fourth = await ask(third.rawKey, { max_tokens: 10 });
    expect(await fourth.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(await useOf(third.record.id)).toEqual({});
  });
});

describe('a limit of requests a minute', () => {
  it('refuses with the time to wait, and the official SDKs wait for it', async () => {
    const { raw } = await cluster.addKey({ limits: { requestsPerMinute: 12 } });
    const begun = performance.now();
    const served = await Promise.all(Array.from({ length: 12 }, () => ask(raw)));
    let refused = await ask(raw);
    // One more is allowed each five seconds, which a busy machine may take.
    for (; refused.status === 200; refused = await ask(raw)) served.push(refused);
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 200));
    expect(served.length).toBeLessThanOrEqual(12 + (performance.now() - begun) / 5_000);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-5]$/);
    expect(await refused.json()).toMatchObject({ error: { type: 'requests', code: 'rate_limit_exceeded' } });
    const client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: raw });
    const answer = await client.chat.completions.create({ model: 'demo', messages: hi });
    expect(answer.choices[0]?.message.content).toBeTruthy();
  });

  it('is reported to both official SDKs in headers, with the tightest of all parties', async () => {
    const raw = await keyOfTeam(
      { requestsPerMinute: 100, tokensPerDay: 1_000_000 },
      { requestsPerMinute: 60, tokensPerMinute: 60_000 },
    );
    const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: raw });
    const asked = { model: 'demo', max_tokens: 100, messages: hi };
    const chat = await openai.chat.completions.create(asked).asResponse();
    expect(Object.fromEntries(chat.headers)).toMatchObject({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': expect.stringMatching(/^(1s|\d+ms)$/),
      'x-ratelimit-limit-tokens': '60000',
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^59\d\d\d$/),
    });

    const anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: raw });
    const { headers } = await anthropic.messages.create(asked).asResponse();
    expect(headers.get('anthropic-ratelimit-requests-limit')).toBe('60');
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toMatch(/^5[89]$/);
    expect(headers.get('anthropic-ratelimit-tokens-limit')).toBe('60000');
    const reset = Date.parse(headers.get('anthropic-ratelimit-requests-reset') ?? '');
    expect(Math.abs(reset - Date.now())).toBeLessThan(10_000);
    expect(headers.has('x-ratelimit-limit-requests')).toBe(false);
  });
});

describe('a limit of requests at the same time', () => {
  it('is free again when the client disconnects', async () => {
    const { raw } = await cluster.addKey({ limits: { concurrentRequests: 1 } });
    const gone = new AbortController();
    const messages = [{ role: 'user', content: 'Hi\n[demo tokens=5000 rate=20]' }];
    const endless = { stream: true, max_tokens: 5_000, messages };
    const first = await ask(raw, endless, { signal: gone.signal });
    await first.body?.getReader().read();
    expect((await ask(raw)).status).toBe(429);
    gone.abort();
    await until(async () => (await ask(raw)).status === 200);
  });
});

describe("a key's models and tiers", () => {
  it('refuse all other names', async () => {
    const { raw } = await cluster.addKey({ models: ['other'] });
    const refused = await ask(raw);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'permission_denied', param: 'model' } });
    const auto = await askMessages(raw, { model: 'auto' });
    expect(auto.status).toBe(403);
    expect(await auto.json()).toMatchObject({ error: { type: 'permission_error' } });
    expect(await (await get({ ...cluster, key: raw }, '/openai/models')).json()).toMatchObject({ data: [] });
  });

  it('allow the names on the lists', async () => {
    const { raw: key } = await cluster.addKey({ models: ['demo'], tiers: ['gpu'] });
    for (const model of ['demo', 'auto']) expect((await ask(key, { model })).status).toBe(200);
    const list = (await (await get({ ...cluster, key }, '/openai/models')).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(['auto', 'demo']);
    expect((await get({ ...cluster, key }, '/tools/v1/list')).status).toBe(403);
    const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const answer = await post({ ...cluster, key, path: '/tools/mcp', body: listing });
    expect([answer.status, await answer.json()]).toMatchObject([403, { id: 1 }]);
  });

  it('keep requests from other tiers', async () => {
    const { raw } = await cluster.addKey({ tiers: ['cloud', 'tools'] });
    for (const model of ['demo', 'auto']) expect((await ask(raw, { model })).status).toBe(403);
  });
});
