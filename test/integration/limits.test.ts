import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, inject, it } from 'vitest';
import { openRaw, readRawAnswer } from '../helpers/clients/raw-http.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import type { Limits } from '#shared/accounts/limits/limits.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { commonIngress } from '../helpers/cluster/common-ingress.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { uniqueName } from '../helpers/unique-name.ts';
import { until } from '../helpers/until.ts';

const cluster = useCluster({ ingress: commonIngress() });

const hello = { model: 'demo', max_tokens: 50, messages: [{ role: 'user', content: 'Hello!' }] };

const ask = (
  key: string,
  fields: object = {},
  init: { signal?: AbortSignal } = {},
  { url }: { url: string } = cluster,
): Promise<Response> => post({ url, key, path: '/openai/chat/completions', body: { ...hello, ...fields }, ...init });

const askMessages = (key: string, fields: object = {}): Promise<Response> =>
  post({ ...cluster, key, path: '/anthropic/v1/messages', body: { ...hello, ...fields } });

/** Returns the counts of a key's limits in Redis, by period. */
async function useOf(id: string): Promise<Record<string, Record<string, string>>> {
  const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  const names = await connection.redis.keys(`${cluster.prefix}:limit:key:${id}:*`);
  const uses = await Promise.all(names.map(async (name) => [name, await connection.redis.hgetall(name)] as const));
  return Object.fromEntries(uses.map(([name, use]) => [name.split(':').slice(4).join(':'), use]));
}

/** Creates a key with limits of its own, of a team that has limits, too. */
async function keyOfTeam(own: Limits, shared: Limits): Promise<string> {
  const { store, accounts } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  const team = await accounts.teams.create(uniqueName('Blue'));
  await accounts.teams.change(team.id, { limits: shared });
  const settings = { kind: 'team', name: 'shared', class: 'normal', limits: own, ownerId: team.id } as const;
  const key = await createOwnedKey(store, settings);
  if (typeof key === 'string') throw new Error(key);
  return key.raw;
}

it('a key beyond its requests a minute is refused before its body has come', async () => {
  const { raw: key } = await cluster.addKey({ limits: { requestsPerMinute: 1 } });
  expect((await ask(key)).status).toBe(200);
  await until(async () => {
    expect((await ask(key)).status).toBe(429);
    const { socket, text, closed } = await openRaw(cluster.url);
    const head = 'POST /api/openai/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 30000000\r\n';
    socket.write(`${head}authorization: Bearer ${key}\r\n\r\n{"model":`);
    await Promise.race([closed, until(() => text().includes('rate_limit_exceeded'), 2_000)]);
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

describe('a budget', () => {
  it('for ten is spent by exactly ten of 200 requests at once, on two nodes', { timeout: 60_000 }, async () => {
    const answer = (await (await ask(cluster.key)).json()) as { usage: Record<string, number> };
    const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = answer.usage;
    const nano = prompt * 1_000 + completion * 2_000;
    // The reservation of the tenth request after nine commits, and half the cost of one request: too little for an eleventh.
    const held = 8 * 1_000 + 50 * 2_000;
    const costPerDay = (nano * 9.5 + held) / 1e9;
    const nodes = [cluster, await cluster.otherIngress()];
    const { raw, id } = await cluster.addKey({ limits: { costPerDay } });

    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        for (;;) {
          const got = await ask(raw, {}, {}, nodes[index % 2]);
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
    await until(async () => Number((await useOf(id))[new Date().toISOString().slice(0, 7)]?.['tokens'] ?? 0) > 0);
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
    const { store } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const rotate = async (old: string, overlapMs: number): Promise<{ raw: string; id: string }> => {
      const record = await store.find(old);
      const next = record && (await rotateKey(store, record, { createdBy: 'nobody', overlapMs }));
      if (next === undefined || typeof next === 'string') throw new Error(next);
      return { raw: next.raw, id: next.record.id };
    };
    const second = await rotate(id, 60_000);
    const third = await rotate(second.id, 0);
    const month = new Date().toISOString().slice(0, 7);
    await until(async () => Number((await useOf(id))[month]?.['tokens'] ?? 0) > 0);
    // More than the rest of the month, though not more than the whole limit.
    expect(await (await ask(third.raw, { max_tokens: 90 })).json()).toMatchObject({
      error: { code: 'insufficient_quota' },
    });
    expect((await ask(third.raw, { max_tokens: 10 })).status).toBe(200);
    expect((await ask(raw, { max_tokens: 10 })).status).toBe(200);
    expect(await (await ask(third.raw, { max_tokens: 10 })).json()).toMatchObject({
      error: { code: 'rate_limit_exceeded' },
    });
    expect(await useOf(third.id)).toEqual({});
  });
});

describe('a limit of requests a minute', () => {
  it('refuses with the time to wait, and the official SDKs wait for it', { timeout: 40_000 }, async () => {
    const { raw } = await cluster.addKey({ limits: { requestsPerMinute: 12 } });
    await Promise.all(Array.from({ length: 12 }, () => ask(raw)));
    const refused = await ask(raw);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(2);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(5);
    expect(await refused.json()).toMatchObject({ error: { type: 'requests', code: 'rate_limit_exceeded' } });
    const client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: raw });
    const answer = await client.chat.completions.create({
      model: 'demo',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(answer.choices[0]?.message.content).toBeTruthy();
  });

  it('is reported to both official SDKs in headers, with the tightest of all parties', async () => {
    const raw = await keyOfTeam(
      { requestsPerMinute: 100, tokensPerDay: 1_000_000 },
      { requestsPerMinute: 60, tokensPerMinute: 60_000 },
    );
    const openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: raw });
    const chat = await openai.chat.completions
      .create({ model: 'demo', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })
      .withResponse();
    expect(chat.response.headers.get('x-ratelimit-limit-requests')).toBe('60');
    expect(chat.response.headers.get('x-ratelimit-remaining-requests')).toBe('59');
    expect(chat.response.headers.get('x-ratelimit-reset-requests')).toMatch(/^(1s|\d+ms)$/);
    expect(chat.response.headers.get('x-ratelimit-limit-tokens')).toBe('60000');
    expect(Number(chat.response.headers.get('x-ratelimit-remaining-tokens'))).toBeGreaterThan(59_000);

    const anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: raw });
    const messages = await anthropic.messages
      .create({ model: 'demo', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })
      .withResponse();
    const { headers } = messages.response;
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
    const endless = {
      stream: true,
      max_tokens: 5_000,
      messages: [{ role: 'user', content: 'Hi\n[demo tokens=5000 rate=20]' }],
    };
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
    const list = await fetch(`${cluster.url}/api/openai/models`, { headers: { authorization: `Bearer ${raw}` } });
    expect(await list.json()).toMatchObject({ data: [] });
  });

  it('allow the names on the lists', async () => {
    const { url } = cluster;
    const { raw } = await cluster.addKey({ models: ['demo'], tiers: ['gpu'] });
    expect((await ask(raw)).status).toBe(200);
    expect((await ask(raw, { model: 'auto' })).status).toBe(200);
    const headers = { authorization: `Bearer ${raw}` };
    const list = (await (await fetch(`${url}/api/openai/models`, { headers })).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(['auto', 'demo']);
    for (const [method, path] of [
      ['GET', '/api/tools/v1/list'],
      ['POST', '/api/tools/mcp'],
    ] as const) {
      const body = method === 'POST' ? JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) : undefined;
      const answer = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) });
      expect([answer.status, await answer.json()]).toMatchObject([403, body === undefined ? {} : { id: 1 }]);
    }
  });

  it('keep requests from other tiers', async () => {
    const { raw } = await cluster.addKey({ tiers: ['cloud', 'tools'] });
    expect((await ask(raw)).status).toBe(403);
    expect((await ask(raw, { model: 'auto' })).status).toBe(403);
  });
});
