import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import type Anthropic from '@anthropic-ai/sdk';
import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { validationJob } from '#shared/background/batch-jobs.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createLog } from '#shared/core/log.ts';
import { parseFileId } from '#shared/files/file-id.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import {
  batchClients,
  chatLine,
  completedOf,
  resultsOf,
  slowLines,
  submit,
  untilBatch,
} from '../helpers/batches/batch-clients.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { until } from '../helpers/until.ts';
import { openTestWebhooks } from '../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../helpers/webhooks/start-receiver.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

const silent = { service: 'test', level: 'fatal', format: 'json' } as const;

const folder = useFolder();
const registry = join(folder, 'router.yaml');

let openai: OpenAI;
let anthropic: Anthropic;
const cluster = useCluster();
beforeAll(() => {
  writeFileSync(registry, JSON.stringify({ models: { asleep: { targets: [{ model: 'asleep-8b', tier: 'gpu' }] } } }));
  ({ openai, anthropic } = batchClients(cluster));
});

const ids = (lines: readonly { custom_id: string }[]): string[] => lines.map(({ custom_id: id }) => id).toSorted();

function batchesIn(redis: Redis): Batches {
  const bounds = { maxOpen: 100, keepMs: 60_000 };
  return new Batches(redis, `${cluster.prefix}:`, { bounds, report: () => undefined });
}

describe('a batch', () => {
  it('waits while there is no runner, and begins with the first one', async () => {
    const { id } = await submit(openai, [chatLine('a', 'Hi.')]);
    await sleep(300);
    expect((await openai.batches.retrieve(id)).status).toBe('validating');
    await cluster.addBatchRunner({
      WEBHOOK_NETWORKS: '127.0.0.1',
      USAGE_EXPORT_TEAM: 'Finance',
      ROUTER_CONFIG: registry,
    });
    expect((await untilBatch(openai, id)).request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
  });

  it('whose time runs out keeps its results so far, and has a line for each other request', async () => {
    const quick = Array.from({ length: 3 }, (_, at) => chatLine(`quick-${at}`, 'Hi.'));
    const slow = slowLines(20, 60_000);
    const text = [...quick, ...slow].map((line) => JSON.stringify(line)).join('\n');
    const file = await openai.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' });
    const { connection } = await openKeyStore(inject('redisUrl'));
    const batches = batchesIn(connection.redis);
    const webhooks = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    const { endpoint } = await webhooks.add((await startReceiver()).url, { events: ['batch.expired'] });
    const createdAt = Date.now();
    const id = 'batch_with_little_time';
    const { keyId: owner } = cluster;
    const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions', window: '24h' };
    const expiresAt = createdAt + 2_000;
    const inputFile = parseFileId(file.id) ?? '';
    await batches.create({ id, owner, key: owner, ...what, inputFile, createdAt, expiresAt, total: 0 });
    const access = { url: inject('redisUrl'), prefix: `${cluster.prefix}:`, log: createLog(silent) };
    const jobs = new BackgroundJobs(access);
    onTestFinished(() => jobs.close());
    await jobs.add(validationJob(id));
    const batch = await untilBatch(openai, id);
    expect(batch.status).toBe('expired');
    expect(ids(await resultsOf(openai, batch.output_file_id))).toEqual(ids(quick as { custom_id: string }[]));
    const errors = await resultsOf(openai, batch.error_file_id);
    expect(ids(errors)).toEqual(ids(slow as { custom_id: string }[]));
    expect(errors[0]).toMatchObject({ response: null, error: { code: 'batch_expired' } });
    const [event] = await webhooks.deliveries.list(endpoint.id, { limit: 9 });
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ type: 'batch.expired', data: { id } });
  });
});

describe('a batch of the openai SDK', () => {
  it('answers every line once, in the file of answers or of errors, and charges each once', async () => {
    const before = (await readUsage(cluster.prefix, cluster.keyId)).length;
    const good = Array.from({ length: 120 }, (_, at) => chatLine(`good-${at}`, `Say ${at}.`));
    const bad = [chatLine('no-model', 'Hi.', { model: 'nobody' }), chatLine('no-messages', 'Hi.', { messages: 'x' })];
    const { id, status, request_counts: counts } = await submit(openai, [...good, ...bad]);
    expect({ status, counts }).toEqual({ status: 'validating', counts: { total: 0, completed: 0, failed: 0 } });
    const batch = await untilBatch(openai, id);
    expect(batch).toMatchObject({
      object: 'batch',
      status: 'completed',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      model: 'demo',
      request_counts: { total: 122, completed: 120, failed: 2 },
    });
    const answers = await resultsOf(openai, batch.output_file_id);
    const errors = await resultsOf(openai, batch.error_file_id);
    expect(ids(answers)).toEqual(ids(good as { custom_id: string }[]));
    expect(ids(errors)).toEqual(['no-messages', 'no-model']);
    const seven = answers.find(({ custom_id: custom }) => custom === 'good-7');
    expect(seven?.response).toMatchObject({ status_code: 200, body: { object: 'chat.completion', model: 'demo' } });
    expect(JSON.stringify(seven?.response?.body)).toContain('Say 7.');
    const unknown = errors.find(({ custom_id: custom }) => custom === 'no-model');
    expect(unknown).toMatchObject({ error: null, response: { status_code: 404 } });
    expect(unknown?.response?.body).toMatchObject({ error: { code: 'model_not_found' } });

    const used = (await readUsage(cluster.prefix, cluster.keyId)).slice(0, -before || undefined);
    expect(used).toHaveLength(120);
    const tokens = used.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);
    expect(batch.usage?.total_tokens).toBe(tokens);
  });

  it('takes requests of the Responses format, which are stored only if they ask for it', async () => {
    const line = (id: string, more: object = {}): object => ({
      custom_id: id,
      method: 'POST',
      url: '/v1/responses',
      body: { model: 'demo', input: `Hello ${id}.`, ...more },
    });
    const { id } = await submit(openai, [line('a'), line('b', { store: true })], '/v1/responses');
    const batch = await untilBatch(openai, id);
    const answers = await resultsOf(openai, batch.output_file_id);
    expect(ids(answers)).toEqual(['a', 'b']);
    const [a, b] = ['a', 'b'].map((name) => answers.find(({ custom_id: custom }) => custom === name)?.response?.body);
    expect(a).toMatchObject({ object: 'response', status: 'completed' });
    await expect(openai.responses.retrieve(String(a?.['id']))).rejects.toMatchObject({ status: 404 });
    expect((await openai.responses.retrieve(String(b?.['id']))).id).toBe(b?.['id']);
  });

  it('takes requests of the other operations with text answers', async () => {
    const bodies = {
      '/v1/embeddings': [{ input: ['one', 'two'] }, { data: [{ index: 0 }, { index: 1 }] }],
      '/v1/completions': [{ prompt: 'Once' }, { object: 'text_completion' }],
      '/v1/moderations': [{ input: 'I will kill you.' }, { results: [{ flagged: true }] }],
    } as const;
    for (const endpoint of ['/v1/embeddings', '/v1/completions', '/v1/moderations'] as const) {
      const [body, answer] = bodies[endpoint];
      const lines = ['a', 'b'].map((id) => ({
        custom_id: id,
        method: 'POST',
        url: endpoint,
        body: { model: 'demo', ...body },
      }));
      const batch = await untilBatch(openai, (await submit(openai, lines, endpoint)).id);
      expect(batch).toMatchObject({ status: 'completed', endpoint, request_counts: { completed: 2, failed: 0 } });
      const answers = await resultsOf(openai, batch.output_file_id);
      expect(ids(answers)).toEqual(['a', 'b']);
      expect(answers[0]?.response?.body).toMatchObject(answer);
    }
  });

  it('fails with the numbers of the lines that are not requests, and runs none', async () => {
    const before = (await readUsage(cluster.prefix, cluster.keyId)).length;
    const lines = [chatLine('a', 'Hi.'), '{"custom_id":', chatLine('a', 'Hi.'), { ...chatLine('b', 'Hi.'), url: '/x' }];
    const batch = await untilBatch(openai, (await submit(openai, lines)).id);
    expect(batch.status).toBe('failed');
    expect(batch.errors?.data?.map(({ line, code, param }) => ({ line, code, param }))).toEqual([
      { line: 2, code: 'invalid_json', param: null },
      { line: 3, code: 'duplicate_custom_id', param: 'custom_id' },
      { line: 4, code: 'invalid_request', param: 'url' },
    ]);
    expect((await readUsage(cluster.prefix, cluster.keyId)).length).toBe(before);
  });

  it('that is cancelled keeps its results so far, and has a line for each other request', async () => {
    const quick = Array.from({ length: 4 }, (_, at) => chatLine(`quick-${at}`, 'Hi.'));
    const slow = slowLines(40, 60_000);
    const { id } = await submit(openai, [...quick, ...slow]);
    await until(async () => (await completedOf(openai, id)) === 4);
    expect((await openai.batches.cancel(id)).status).toBe('cancelling');
    const batch = await untilBatch(openai, id);
    expect(batch.status).toBe('cancelled');
    expect(batch.request_counts).toEqual({ total: 44, completed: 4, failed: 0 });
    expect(ids(await resultsOf(openai, batch.output_file_id))).toEqual(ids(quick as { custom_id: string }[]));
    const errors = await resultsOf(openai, batch.error_file_id);
    expect(ids(errors)).toEqual(ids(slow as { custom_id: string }[]));
    expect(errors[0]).toMatchObject({ response: null, error: { code: 'batch_cancelled' } });
  });

  it('goes on after its key was rotated, and is cancelled when its key is revoked', async () => {
    const open = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const { store, accounts } = open;
    const team = await accounts.teams.create('Batches');
    const made = await createOwnedKey(store, { kind: 'team', ownerId: team.id, class: 'normal', name: 'old' });
    if (typeof made === 'string') throw new Error(made);
    const slow = slowLines(24, 200);
    const { id } = await submit(batchClients({ url: cluster.url, key: made.raw }).openai, slow);
    const rotated = await rotateKey(store, made.record, { createdBy: 'nobody', overlapMs: 0 });
    if (typeof rotated === 'string') throw new Error(rotated);
    const successor = batchClients({ url: cluster.url, key: rotated.raw }).openai;
    expect((await untilBatch(successor, id)).request_counts).toEqual({ total: 24, completed: 24, failed: 0 });
    const endless = chatLine('endless', 'Hi.', { demo: { first_token_delay_ms: 60_000 } });
    const other = await submit(successor, [chatLine('quick', 'Hi.'), endless]);
    const found = () => batches.find(team.id, 'openai', other.id);
    const batches = batchesIn(open.connection.redis);
    await until(async () => (await found())?.succeeded === 1);
    await store.revoke(rotated.record.id, Date.now());
    await until(async () => (await found())?.state === 'ended');
    expect(await found()).toMatchObject({ succeeded: 1, errored: 0, cancelled: 1 });
  });

  it('is reported to webhooks of its owner when it is over, as completed, failed or cancelled', async () => {
    const receiver = await startReceiver();
    const { add, deliveries } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    const { endpoint, secret } = await add(receiver.url);
    const done = await submit(openai, [chatLine('a', 'Hi.')]);
    const invalid = await submit(openai, [{ ...chatLine('b', 'Hi.'), url: '/x' }]);
    const slow = await submit(openai, [chatLine('c', 'Hi.', { demo: { first_token_delay_ms: 60_000 } })]);
    await until(async () => (await openai.batches.retrieve(slow.id)).status === 'in_progress');
    await openai.batches.cancel(slow.id);
    await until(() => expect(receiver.messages).toHaveLength(3));
    const events = await Promise.all(
      receiver.messages.map(({ body, headers }) => openai.webhooks.unwrap(body, headers, secret)),
    );
    expect(Object.fromEntries(events.map(({ type, data }) => [type, data]))).toEqual({
      'batch.completed': { id: done.id },
      'batch.failed': { id: invalid.id },
      'batch.cancelled': { id: slow.id },
    });
    await until(async () => (await deliveries.list(endpoint.id, { state: 'delivered', limit: 9 })).length === 3);
  });

  it.each(['after', 'after_id', 'before_id'])(
    'is refused at %s as the start of a list if it is unknown',
    async (name) => {
      const path = name === 'after' ? 'openai/batches' : 'anthropic/v1/messages/batches';
      const headers = { authorization: `Bearer ${cluster.key}`, 'anthropic-version': '2023-06-01' };
      const answer = await fetch(`${cluster.url}/api/${path}?${name}=batch_unknown`, { headers });
      expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('batch_unknown')]);
    },
  );

  it('appears in the list of its owner', async () => {
    const { id } = await submit(openai, [chatLine('a', 'Hi.')]);
    const listed: string[] = [];
    for await (const batch of openai.batches.list({ limit: 2 })) listed.push(batch.id);
    expect(listed[0]).toBe(id);
    expect(new Set(listed).size).toBe(listed.length);
    await untilBatch(openai, id);
  });

  it.each([
    [{ endpoint: '/v1/audio/speech' }, /endpoint/],
    [{ endpoint: '/v1/responses/compact' }, /endpoint/],
    [{ completion_window: '24' }, /completion_window/],
    [{ input_file_id: 'file-unknown' }, /file-unknown/],
  ])('is refused with a sentence for %o', async (wrong, message) => {
    const asked = { input_file_id: 'file-x', endpoint: '/v1/chat/completions', completion_window: '24h', ...wrong };
    await expect(openai.batches.create(asked as OpenAI.BatchCreateParams)).rejects.toThrow(message);
  });
});

describe('a batch of the Anthropic SDK', () => {
  const params = (text: string, more: object = {}) => ({
    model: 'demo',
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: text }],
    ...more,
  });

  async function ended(id: string) {
    for (;;) {
      const batch = await anthropic.messages.batches.retrieve(id);
      if (batch.processing_status === 'ended') return batch;
      await sleep(100);
    }
  }

  it('answers every request once in its results, and is removed with them', async () => {
    const requests = Array.from({ length: 30 }, (_, at) => ({ custom_id: `r${at}`, params: params(`Say ${at}.`) }));
    const wrong = { custom_id: 'wrong', params: params('Hi.', { model: 'nobody' }) };
    const made = await anthropic.messages.batches.create({ requests: [...requests, wrong] });
    expect(made).toMatchObject({ type: 'message_batch', processing_status: 'in_progress', results_url: null });
    expect(made.request_counts).toMatchObject({ processing: 31, succeeded: 0 });
    const batch = await ended(made.id);
    expect(batch.request_counts).toEqual({ processing: 0, succeeded: 30, errored: 1, canceled: 0, expired: 0 });
    const results = new Map<string, Anthropic.Messages.MessageBatchResult>();
    for await (const { custom_id: id, result } of await anthropic.messages.batches.results(made.id)) {
      expect(results.has(id)).toBe(false);
      results.set(id, result);
    }
    expect(results.size).toBe(31);
    expect(results.get('r7')).toMatchObject({ type: 'succeeded', message: { type: 'message', model: 'demo' } });
    expect(JSON.stringify(results.get('r7'))).toContain('Say 7.');
    expect(results.get('wrong')).toMatchObject({
      type: 'errored',
      error: { type: 'error', error: { type: 'not_found_error' } },
    });
    expect(await anthropic.messages.batches.delete(made.id)).toEqual({ id: made.id, type: 'message_batch_deleted' });
    await expect(anthropic.messages.batches.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('that is cancelled reports that for each request without a result, and can be removed only then', async () => {
    const slow = params('Hi.\n[demo delay=60000]');
    const requests = Array.from({ length: 10 }, (_, at) => ({ custom_id: `r${at}`, params: slow }));
    const { id } = await anthropic.messages.batches.create({ requests });
    await expect(anthropic.messages.batches.delete(id)).rejects.toMatchObject({ status: 400 });
    expect((await anthropic.messages.batches.cancel(id)).processing_status).toBe('canceling');
    const batch = await ended(id);
    expect(batch.request_counts).toMatchObject({ canceled: 10, succeeded: 0 });
    expect(batch.cancel_initiated_at).not.toBeNull();
    for await (const { result } of await anthropic.messages.batches.results(id)) expect(result.type).toBe('canceled');
  });

  it('is refused with a sentence for a custom_id that occurs twice', async () => {
    const requests = ['a', 'a'].map((id) => ({ custom_id: id, params: params('Hi.') }));
    await expect(anthropic.messages.batches.create({ requests })).rejects.toThrow(/not unique/);
  });
});

describe('a line that no worker can serve', () => {
  it('counts as waiting for its tier, so that an autoscaler starts a worker', async () => {
    const waiting = async (): Promise<unknown> => {
      const load = (await (await fetch(`${cluster.adminUrl}/load`)).json()) as { tiers?: { gpu: { waiting: number } } };
      return load.tiers?.gpu.waiting;
    };
    // A line of the previous test may have waited a moment ago.
    await until(async () => (await waiting()) === 0);
    const { id } = await submit(openai, [chatLine('a', 'Hi.', { model: 'asleep' })]);
    await until(async () => (await waiting()) === 1);
    expect((await openai.batches.retrieve(id)).request_counts).toMatchObject({ total: 1, completed: 0, failed: 0 });
    await openai.batches.cancel(id);
  });
});

describe('a batch runner', () => {
  /** Returns a function that runs scheduled work now. */
  async function openScheduled(): Promise<(work: string) => Promise<void>> {
    const access = { url: inject('redisUrl'), prefix: `${cluster.prefix}:`, log: createLog(silent) };
    const jobs = new BackgroundJobs(access);
    onTestFinished(() => jobs.close());
    let count = 0;
    await until(async () => (await jobs.counts()).scheduled.delayed > 0);
    return async (work) => {
      await jobs.add({ queue: 'scheduled', id: `${work}-${Date.now()}-${count++}`, data: { work } });
      await sleep(100);
    };
  }

  it('reports the use of budgets', async () => {
    const doNow = await openScheduled();
    const receiver = await startReceiver();
    const { add, connection, prefix } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    const { secret } = await add(receiver.url, { events: ['rtr.budget.*'] });
    const limits = { tokensPerDay: 1_000 };
    const { id } = await cluster.addKey({ name: 'limited', limits });
    const keeper = new LimitKeeper(connection.redis, prefix, createLog(silent));
    onTestFinished(() => keeper.close());
    const verdict = await keeper.reserve([{ party: `key:${id}`, limits }], { tokens: 600, cost: 0 });
    if (verdict.granted) verdict.reservation.commit({ tokens: 600, cost: 0 });
    await until(async () => {
      await doNow('budgets');
      return receiver.messages.length > 0;
    });
    const [message] = receiver.messages;
    const event: unknown = await openai.webhooks.unwrap(message?.body ?? '', message?.headers ?? {}, secret);
    const data = { id, kind: 'key', name: 'limited', budget: 'tokensPerDay', limit: 1_000, used: 600, percent: 50 };
    expect(event).toMatchObject({ type: 'rtr.budget.threshold', data });
  });

  it('writes the usage of the day before into a file of a team, once the team exists', async () => {
    const doNow = await openScheduled();
    const receiver = await startReceiver();
    const { add, accounts, store, connection, prefix } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    const bounds = { maxRequests: 1_000, requestsKeptMs: 86_400_000 };
    const ledger = new UsageLedger(connection.redis, prefix, createLog(silent), bounds);
    const [last] = await readUsage(cluster.prefix, cluster.keyId);
    // The hour of today's export may not have come.
    if (last)
      for (const days of [1, 2]) ledger.add({ ...last, id: `days-ago-${days}`, at: Date.now() - days * 86_400_000 });
    await ledger.close();
    const team = await accounts.teams.create('Finance');
    const key = await createOwnedKey(store, { kind: 'team', ownerId: team.id, class: 'normal', name: 'books' });
    if (typeof key === 'string') throw new Error(key);
    await add(receiver.url, { owner: `team:${team.id}`, events: ['rtr.usage.exported'] });
    await doNow('usage-exports');
    await until(() => receiver.messages.length === 1);
    const { data } = JSON.parse(receiver.messages[0]?.body ?? '') as { data: { id: string; requests: number } };
    expect(data.requests).toBe(1);
    const client = batchClients({ url: cluster.url, key: key.raw }).openai;
    const files = await client.files.list({ purpose: 'usage_export' });
    expect(files.data.map(({ id }) => id)).toEqual([data.id]);
    expect(await (await client.files.content(data.id)).text()).toMatch(/\r\ndays-ago-[12],/);
  });
});
