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
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { createValidationJob } from '#shared/background/batch-jobs.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { parseFileId } from '#shared/files/file-id.ts';
import { made } from '../helpers/accounts/made.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { writeLedger } from '../helpers/accounts/open-ledger.ts';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { batchClients, chatLine, completedOf, resultsOf } from '../helpers/batches/batch-clients.ts';
import { slowLines, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { get } from '../helpers/clients/keyed-requests.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { until } from '../helpers/until.ts';
import { openTestWebhooks } from '../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../helpers/webhooks/start-receiver.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

const folder = useFolder();
const registry = join(folder, 'router.yaml');

let openai: OpenAI;
let anthropic: Anthropic;
const cluster = useCluster();
beforeAll(() => {
  writeFileSync(registry, JSON.stringify({ models: { asleep: { targets: [{ model: 'asleep-8b', tier: 'gpu' }] } } }));
  ({ openai, anthropic } = batchClients(cluster));
});

const ids = (lines: readonly object[]): string[] =>
  lines.map((line) => ('custom_id' in line ? String(line.custom_id) : '')).toSorted();
const ledger = () => readUsage(cluster.prefix, cluster.keyId);
const webhooksOfCluster = () => openTestWebhooks({ prefix: `${cluster.prefix}:` });
const openStore = () => openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);

function openJobs(): BackgroundJobs {
  const jobs = new BackgroundJobs({ url: inject('redisUrl'), prefix: `${cluster.prefix}:`, log: silentLog });
  onTestFinished(() => jobs.close());
  return jobs;
}

function batchesIn(redis: Redis): Batches {
  const bounds = { maxOpen: 100, keepMs: 60_000 };
  return new Batches(redis, `${cluster.prefix}:`, { bounds, report: () => undefined });
}

describe('a batch', () => {
  it('waits while there is no runner, and begins with the first one', async () => {
    const { id } = await submit(openai, [chatLine('a', 'Hi.')]);
    await sleep(300);
    expect((await openai.batches.retrieve(id)).status).toBe('validating');
    const exports = { WEBHOOK_NETWORKS: '127.0.0.1', USAGE_EXPORT_TEAM: 'Finance' };
    await cluster.addBatchRunner({ ...exports, ROUTER_CONFIG: registry });
    expect((await untilBatch(openai, id)).request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
  });

  it('whose time runs out keeps its results so far, and has a line for each other request', async () => {
    const quick = Array.from({ length: 3 }, (_, at) => chatLine(`quick-${at}`, 'Hi.'));
    const slow = slowLines(20, 60_000);
    const text = [...quick, ...slow].map((line) => JSON.stringify(line)).join('\n');
    const file = await openai.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' });
    const { redis } = await openStore();
    const webhooks = await webhooksOfCluster();
    const { endpoint } = await webhooks.add((await startReceiver()).url, { events: ['batch.expired'] });
    const createdAt = Date.now();
    const id = 'batch_with_little_time';
    const { keyId: owner } = cluster;
    const what = { api: 'openai', path: '/chat/completions', endpoint: '/v1/chat/completions', window: '24h' };
    // Long enough for the quick lines.
    const expiresAt = createdAt + 8_000;
    const inputFile = parseFileId(file.id) ?? '';
    await batchesIn(redis).create({ id, owner, key: owner, ...what, inputFile, createdAt, expiresAt, total: 0 });
    await openJobs().add(createValidationJob(id));
    const batch = await untilBatch(openai, id);
    expect(batch.status).toBe('expired');
    expect(ids(await resultsOf(openai, batch.output_file_id))).toEqual(ids(quick));
    const errors = await resultsOf(openai, batch.error_file_id);
    expect(ids(errors)).toEqual(ids(slow));
    expect(errors[0]).toMatchObject({ response: null, error: { code: 'batch_expired' } });
    const [event] = await webhooks.deliveries.list(endpoint.id, { limit: 9 });
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ type: 'batch.expired', data: { id } });
  });
});

describe('a batch of the openai SDK', () => {
  it('answers every line once, in the file of answers or of errors, and charges each once', async () => {
    const before = (await ledger()).length;
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
    expect(ids(answers)).toEqual(ids(good));
    expect(ids(errors)).toEqual(['no-messages', 'no-model']);
    const seven = answers.find(({ custom_id: custom }) => custom === 'good-7');
    expect(seven?.response).toMatchObject({ status_code: 200, body: { object: 'chat.completion', model: 'demo' } });
    expect(JSON.stringify(seven?.response?.body)).toContain('Say 7.');
    const unknown = errors.find(({ custom_id: custom }) => custom === 'no-model');
    expect(unknown).toMatchObject({ error: null, response: { status_code: 404 } });
    expect(unknown?.response?.body).toMatchObject({ error: { code: 'model_not_found' } });

    await until(async () => (await ledger()).length >= before + 120);
    const used = (await ledger()).slice(0, -before || undefined);
    expect(used).toHaveLength(120);
    const tokens = used.reduce((sum, { promptTokens, completionTokens }) => sum + promptTokens + completionTokens, 0);
    expect(batch.usage?.total_tokens).toBe(tokens);
  });

  it('takes requests of the Responses format, which are stored only if they ask for it', async () => {
    const line = (id: string, more: object = {}): object => {
      const body = { model: 'demo', input: `Hello ${id}.`, ...more };
      return { custom_id: id, method: 'POST', url: '/v1/responses', body };
    };
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
    for (const [endpoint, asked, answer] of [
      ['/v1/embeddings', { input: ['one', 'two'] }, { data: [{ index: 0 }, { index: 1 }] }],
      ['/v1/completions', { prompt: 'Once' }, { object: 'text_completion' }],
      ['/v1/moderations', { input: 'I will kill you.' }, { results: [{ flagged: true }] }],
    ] as const) {
      const body = { model: 'demo', ...asked };
      const lines = ['a', 'b'].map((id) => ({ custom_id: id, method: 'POST', url: endpoint, body }));
      const batch = await untilBatch(openai, (await submit(openai, lines, endpoint)).id);
      expect(batch).toMatchObject({ status: 'completed', endpoint, request_counts: { completed: 2, failed: 0 } });
      const answers = await resultsOf(openai, batch.output_file_id);
      expect(ids(answers)).toEqual(['a', 'b']);
      expect(answers[0]?.response?.body).toMatchObject(answer);
    }
  });

  it('fails with the numbers of the lines that are not requests, and runs none', async () => {
    const before = (await ledger()).length;
    const lines = [chatLine('a', 'Hi.'), '{"custom_id":', chatLine('a', 'Hi.'), { ...chatLine('b', 'Hi.'), url: '/x' }];
    const batch = await untilBatch(openai, (await submit(openai, lines)).id);
    expect(batch.status).toBe('failed');
    expect(batch.errors?.data?.map(({ line, code, param }) => ({ line, code, param }))).toEqual([
      { line: 2, code: 'invalid_json', param: null },
      { line: 3, code: 'duplicate_custom_id', param: 'custom_id' },
      { line: 4, code: 'invalid_request', param: 'url' },
    ]);
    expect(await ledger()).toHaveLength(before);
  });

  it('keeps no more of a wrong line than shows which it is', async () => {
    const long = '\u0001'.repeat(512);
    const lines = Array.from({ length: 101 }, () => chatLine(long, 'Hi.'));
    const { errors } = await untilBatch(openai, (await submit(openai, lines)).id);
    expect(errors?.data).toHaveLength(100);
    expect(Math.max(...(errors?.data ?? []).map(({ message = '' }) => message.length))).toBeLessThanOrEqual(300);
    expect(errors?.data?.[0]?.message).toMatch(/^An earlier line has the same custom_id: "\\u0001.*…$/);
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
    expect(ids(await resultsOf(openai, batch.output_file_id))).toEqual(ids(quick));
    const errors = await resultsOf(openai, batch.error_file_id);
    expect(ids(errors)).toEqual(ids(slow));
    expect(errors[0]).toMatchObject({ response: null, error: { code: 'batch_cancelled' } });
  });

  it('goes on after its key was rotated, and is cancelled when its key is revoked', async () => {
    const { store, accounts, redis } = await openStore();
    const team = await accounts.teams.create('Batches');
    const old = made(await createOwnedKey(store, { kind: 'team', ownerId: team.id, class: 'normal', name: 'old' }));
    const slow = slowLines(24, 200);
    const { id } = await submit(batchClients({ url: cluster.url, key: old.rawKey }).openai, slow);
    const rotated = made(await rotateKey(store, old.record, { createdBy: 'nobody', overlapMs: 0 }));
    const successor = batchClients({ url: cluster.url, key: rotated.rawKey }).openai;
    expect((await untilBatch(successor, id)).request_counts).toEqual({ total: 24, completed: 24, failed: 0 });
    const endless = chatLine('endless', 'Hi.', { demo: { first_token_delay_ms: 60_000 } });
    const other = await submit(successor, [chatLine('quick', 'Hi.'), endless]);
    const found = () => batchesIn(redis).find(team.id, 'openai', other.id);
    await until(async () => (await found())?.succeeded === 1);
    await store.revoke(rotated.record.id, Date.now());
    await until(async () => (await found())?.state === 'ended');
    expect(await found()).toMatchObject({ succeeded: 1, errored: 0, cancelled: 1 });
  });

  it('is reported to webhooks of its owner when it is over, as completed, failed or cancelled', async () => {
    const receiver = await startReceiver();
    const { add, deliveries } = await webhooksOfCluster();
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
      const path = name === 'after' ? '/openai/batches' : '/anthropic/v1/messages/batches';
      const answer = await get(cluster, `${path}?${name}=batch_unknown`, { 'anthropic-version': '2023-06-01' });
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
  const params = (text: string, model = 'demo') => ({
    model,
    max_tokens: 100,
    messages: [{ role: 'user' as const, content: text }],
  });

  async function ended(id: string) {
    await until(async () => (await anthropic.messages.batches.retrieve(id)).processing_status === 'ended');
    return anthropic.messages.batches.retrieve(id);
  }

  it('answers every request once in its results, and is removed with them', async () => {
    const requests = Array.from({ length: 30 }, (_, at) => ({ custom_id: `r${at}`, params: params(`Say ${at}.`) }));
    const wrong = { custom_id: 'wrong', params: params('Hi.', 'nobody') };
    const begun = await anthropic.messages.batches.create({ requests: [...requests, wrong] });
    expect(begun).toMatchObject({ type: 'message_batch', processing_status: 'in_progress', results_url: null });
    expect(begun.request_counts).toMatchObject({ processing: 31, succeeded: 0 });
    const { id, request_counts: counts } = await ended(begun.id);
    expect(counts).toEqual({ processing: 0, succeeded: 30, errored: 1, canceled: 0, expired: 0 });
    const lines: Anthropic.Messages.MessageBatchIndividualResponse[] = [];
    for await (const line of await anthropic.messages.batches.results(id)) lines.push(line);
    expect(ids(lines)).toEqual(ids([...requests, wrong]));
    const results = new Map(lines.map(({ custom_id: custom, result }) => [custom, result]));
    expect(results.get('r7')).toMatchObject({ type: 'succeeded', message: { type: 'message', model: 'demo' } });
    expect(JSON.stringify(results.get('r7'))).toContain('Say 7.');
    const error = { type: 'error', error: { type: 'not_found_error' } };
    expect(results.get('wrong')).toMatchObject({ type: 'errored', error });
    expect(await anthropic.messages.batches.delete(id)).toEqual({ id, type: 'message_batch_deleted' });
    await expect(anthropic.messages.batches.retrieve(id)).rejects.toMatchObject({ status: 404 });
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
    const load = async () => (await fetch(`${cluster.adminUrl}/load`)).json();
    const waits = (waiting: number) =>
      until(async () => expect(await load()).toMatchObject({ tiers: { gpu: { waiting } } }));
    // A line of the previous test may have waited a moment ago.
    await waits(0);
    const { id } = await submit(openai, [chatLine('a', 'Hi.', { model: 'asleep' })]);
    await waits(1);
    expect((await openai.batches.retrieve(id)).request_counts).toMatchObject({ total: 1, completed: 0, failed: 0 });
    await openai.batches.cancel(id);
  });
});

describe('a batch runner', () => {
  /** Returns a function that runs scheduled work now. */
  async function openScheduled(): Promise<(work: string) => Promise<void>> {
    const jobs = openJobs();
    let count = 0;
    await until(async () => (await jobs.countAll()).scheduled.delayed > 0);
    return async (work) => {
      await jobs.add({ queue: 'scheduled', id: `${work}-${Date.now()}-${count++}`, data: { work } });
      await sleep(100);
    };
  }

  it('reports the use of budgets', async () => {
    const doNow = await openScheduled();
    const receiver = await startReceiver();
    const { add, redis, prefix } = await webhooksOfCluster();
    const { secret } = await add(receiver.url, { events: ['rtr.budget.*'] });
    const limits = { tokensPerDay: 1_000 };
    const { id } = await cluster.addKey({ name: 'limited', limits });
    const keeper = new LimitKeeper(redis, prefix, silentLog);
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
    const { add, accounts, store, redis, prefix } = await webhooksOfCluster();
    const last = made((await ledger())[0]);
    // The hour of today's export may not have come.
    const old = [1, 2].map((days) => ({ ...last, id: `days-ago-${days}`, at: Date.now() - days * 86_400_000 }));
    await writeLedger({ redis, prefix }, old);
    const team = await accounts.teams.create('Finance');
    const owned = { kind: 'team', ownerId: team.id, class: 'normal', name: 'books' } as const;
    const key = made(await createOwnedKey(store, owned));
    await add(receiver.url, { owner: `team:${team.id}`, events: ['rtr.usage.exported'] });
    await doNow('usage-exports');
    await until(() => receiver.messages.length === 1);
    const { data } = JSON.parse(receiver.messages[0]?.body ?? '') as { data: { id: string; requests: number } };
    expect(data.requests).toBe(1);
    const client = batchClients({ url: cluster.url, key: key.rawKey }).openai;
    const files = await client.files.list({ purpose: 'usage_export' });
    expect(files.data.map(({ id }) => id)).toEqual([data.id]);
    expect(await (await client.files.content(data.id)).text()).toMatch(/\r\ndays-ago-[12],/);
  });
});
