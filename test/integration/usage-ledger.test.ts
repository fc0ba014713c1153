import { describe, expect, inject, it } from 'vitest';
import { recordOf } from '../helpers/accounts/read-usage.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { commonIngress } from '../helpers/cluster/common-ingress.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { admin } from '../helpers/accounts/open-ledger.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { startMessagesUpstream } from '../helpers/upstreams/start-messages-upstream.ts';
import { stopAfterTest } from '../helpers/stop-after-test.ts';
import { uniqueName } from '../helpers/unique-name.ts';

const cluster = useCluster({ ingress: commonIngress() });

async function send(path: string, fields: object, init: { signal?: AbortSignal } = {}) {
  const id = uniqueName('ledger');
  const body = { model: 'demo', max_tokens: 60, messages: [{ role: 'user', content: 'Hello!' }], ...fields };
  const response = await post({ ...cluster, path, body, headers: { 'x-request-id': id }, ...init });
  return { id, response };
}

const chat = '/openai/chat/completions';
const messages = '/anthropic/v1/messages';
const saying = (content: string): object => ({ messages: [{ role: 'user', content }] });

describe('the usage ledger', () => {
  it.each([
    ['a chat answer', chat, {}],
    ['a streamed chat answer', chat, { stream: true }],
    ['a message', messages, {}],
    ['a streamed message', messages, { stream: true }],
  ])('has the counts that the client of %s got, and their price', async (_, path, fields) => {
    const { id, response } = await send(path, { ...fields, ...saying('Hi!\n[demo tokens=17]') });
    const counts = [...(await response.text()).matchAll(/"(?:completion|output)_tokens":(\d+)/g)];
    const record = await recordOf(cluster, id);
    expect(record).toMatchObject({
      key: { id: cluster.keyId, name: 'test' },
      asked: 'demo',
      model: 'demo',
      tier: 'gpu',
      worker: response.headers.get('x-rtr-worker'),
      outcome: 'done',
      attempts: 1,
      completionTokens: 17,
      operation: 'generate',
      format: path === chat ? 'chat' : 'messages',
    });
    expect(counts.at(-1)?.[1]).toBe('17');
    expect(record.cost).toBe(record.promptTokens * 1_000 + 17 * 2_000);
    expect(Math.abs(record.at - Date.now())).toBeLessThan(20_000);
    expect(record.totalMs).toBeGreaterThan(0);
  });

  it.each([
    ['chat', chat],
    ['messages', messages],
  ])('counts the relayed part of a %s stream that the client left', async (_, path) => {
    const gone = new AbortController();
    const fields = { stream: true, max_tokens: 5_000, ...saying('Hi!\n[demo tokens=5000 rate=200]') };
    const { id, response } = await send(path, fields, { signal: gone.signal });
    let read = '';
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      read += decoder.decode(piece);
      if (read.split('\n\n').length > 60) break;
    }
    gone.abort();
    const record = await recordOf(cluster, id);
    expect(record).toMatchObject({ outcome: 'cancelled', model: 'demo' });
    expect(record.promptTokens).toBeGreaterThan(0);
    expect(record.completionTokens).toBeGreaterThanOrEqual(50);
    expect(record.completionTokens).toBeLessThan(2_500);
    expect(record.cost).toBe(record.promptTokens * 1_000 + record.completionTokens * 2_000);
  });

  it('counts what a provider caches for an hour, and its web searches, at their own prices', async () => {
    const usage = {
      input_tokens: 20,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 556,
      cache_creation: { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 100 },
      output_tokens: 503,
      server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
    };
    const content = [{ type: 'text', text: 'Found.' }];
    const model = 'claude-sonnet-5-5';
    const upstream = stopAfterTest(await startMessagesUpstream([model], () => ({ content, usage })));
    const provider = { PROVIDER: 'anthropic', PROVIDER_URL: `${upstream.url}/v1`, PROVIDER_KEY: 'none' };
    stopAfterTest(await cluster.addCloudWorker(provider));
    // By the price list: 2 dollars, 0.1 from the cache, 2.5 and 4 into it, 10 for output, and a cent per search.
    const tokens = 20 * 2_000 + 1_000 * 100 + 456 * 2_500 + 100 * 4_000 + 503 * 10_000;
    for (const path of [messages, chat]) {
      for (const stream of [false, true]) {
        const { id, response } = await send(path, { stream, max_tokens: 600, ...saying('Hi!'), model });
        await response.text();
        const counts = { promptTokens: 1_576, searches: 3, cost: tokens + 3 * 10_000_000 };
        expect(await recordOf(cluster, id)).toMatchObject(counts);
      }
    }
  });

  it('counts the relayed part of a stream that broke, with the error', async () => {
    const fields = { stream: true, max_tokens: 500, ...saying('Hi!\n[demo tokens=100 fault=drop after=40 rate=0]') };
    const { id, response } = await send(chat, fields);
    await response.text();
    const record = await recordOf(cluster, id);
    expect(record.outcome).toBe('failed');
    expect(record.code).toBeTruthy();
    expect(record.completionTokens).toBeGreaterThanOrEqual(39);
    expect(record.completionTokens).toBeLessThanOrEqual(42);
  });

  it('counts nothing for a request that failed before its answer', async () => {
    const { id, response } = await send(chat, saying('Hi!\n[demo fault=500]'));
    expect(response.status).toBeGreaterThanOrEqual(500);
    const nothing = { outcome: 'failed', promptTokens: 0, completionTokens: 0, cost: 0 };
    expect(await recordOf(cluster, id)).toMatchObject(nothing);
  });

  it('contains no part of a prompt or an answer', async () => {
    const secret = 'elephants-in-pyjamas';
    const { id } = await send(chat, saying(secret));
    await recordOf(cluster, id);
    const { redis } = await openKeyStore(inject('redisUrl'));
    const entries = await redis.xrange(`${cluster.prefix}:usage:requests`, '-', '+');
    expect(JSON.stringify(entries)).toContain(id);
    expect(JSON.stringify(entries)).not.toContain('elephants');
  });

  it('has totals equal to the sum of its requests, by day, month and every group', async () => {
    const { redis } = await openKeyStore(inject('redisUrl'));
    const usage = new UsageReader(redis, `${cluster.prefix}:`);
    const { requests } = await usage.listRequests(admin, { key: cluster.keyId }, 200);
    const sum = (of: (record: UsageRecord) => number): number => requests.reduce((all, each) => all + of(each), 0);
    const wanted = {
      requests: requests.length,
      failed: sum(({ outcome }) => Number(outcome === 'failed')),
      cancelled: sum(({ outcome }) => Number(outcome === 'cancelled')),
      promptTokens: sum(({ promptTokens }) => promptTokens),
      completionTokens: sum(({ completionTokens }) => completionTokens),
      cost: sum(({ cost }) => cost),
    };
    for (const step of ['day', 'month'] as const) {
      for (const by of ['model', 'key', 'tier'] as const) {
        const range = { from: Date.now() - 86_400_000, to: Date.now() + 60_000 };
        const report = await usage.readReport({ viewer: admin, ...range, step, by, filter: { key: cluster.keyId } });
        expect(report.totals).toMatchObject(wanted);
        const id = { model: 'demo', key: cluster.keyId, tier: 'gpu' }[by];
        expect(report.groups).toContainEqual(expect.objectContaining({ id }));
      }
    }
  });
});
