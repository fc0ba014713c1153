import OpenAI from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { openaiOutcome } from '../helpers/clients/openai-outcome.ts';
import { until } from '../helpers/until.ts';
import { useCluster } from '../helpers/cluster/share-cluster.ts';
import { openTestWebhooks } from '../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../helpers/webhooks/start-receiver.ts';

/** The same client at two ingress nodes. */
let here: OpenAI;
let there: OpenAI;

const cluster = useCluster();
beforeAll(async () => {
  const [{ url }] = await Promise.all([
    cluster.otherIngress(),
    cluster.addBatchRunner({ WEBHOOK_NETWORKS: '127.0.0.1' }),
  ]);
  here = clientAt(cluster.url);
  there = clientAt(url);
});

function clientAt(url: string, apiKey = cluster.key): OpenAI {
  return new OpenAI({ baseURL: `${url}/api/openai/v1`, apiKey, maxRetries: 0 });
}

async function untilOver(client: OpenAI, id: string): Promise<Response> {
  await until(async () => expect((await client.responses.retrieve(id)).status).not.toMatch(/queued|in_progress/));
  return client.responses.retrieve(id);
}

/** Returns a request for a response in the background, with options of the demo engine. */
const asking = (options: string) => ({ model: 'demo', input: `Tell a story.\n[demo ${options}]`, background: true });

async function eventsOf(stream: AsyncIterable<ResponseStreamEvent>, most = Infinity): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length >= most) break;
  }
  return events;
}

function textOf(events: readonly ResponseStreamEvent[]): string {
  return events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');
}

const numbersOf = (events: readonly ResponseStreamEvent[]): number[] =>
  events.map((event) => ('sequence_number' in event ? event.sequence_number : -1));

const ledger = () => readUsage(cluster.prefix, cluster.keyId);

/** Returns the requests of the ledger after the first ones, once there are this many. */
async function usedSince(before: number, count: number) {
  await until(async () => (await ledger()).length >= before + count);
  // No further request arrives.
  await sleep(700);
  const used = (await ledger()).slice(0, -before || undefined);
  expect(used).toHaveLength(count);
  return used;
}

/** Starts a long response, and waits until its stream at the other ingress has begun. @returns its id, and the end of that stream */
async function streamLong(): Promise<{ id: string; ended: Promise<void> }> {
  const { id } = await here.responses.create(asking('rate=20 tokens=2000'));
  const stream = await there.responses.retrieve(id, { stream: true });
  let seen = 0;
  const ended = (async () => {
    for await (const _ of stream) seen += 1;
  })();
  ended.catch(() => undefined);
  await until(() => seen > 10);
  return { id, ended };
}

const beginning = ['response.created', 'response.queued', 'response.in_progress'];

describe('a response in the background', () => {
  it('is followed by sixteen clients of a node, and by another when one of them leaves', async () => {
    const before = (await ledger()).length;
    const { id } = await here.responses.create(asking('rate=20 tokens=2000'));
    const streams = await Promise.all(Array.from({ length: 16 }, () => here.responses.retrieve(id, { stream: true })));
    const refused = await here.responses.retrieve(id, { stream: true }).then(
      () => undefined,
      (error: unknown) => error as InstanceType<typeof OpenAI.APIError>,
    );
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(refused?.headers?.get('retry-after')).toBe('5');
    await until(async () => (await here.responses.retrieve(id)).status === 'in_progress');
    streams[0]?.controller.abort();
    await until(async () => {
      const another = await here.responses.retrieve(id, { stream: true });
      another.controller.abort();
      return true;
    });
    for (const { controller } of streams) controller.abort();
    await here.responses.cancel(id);
    await until(async () => (await ledger()).length > before);
  });

  it('is queued at once, produced without its client, stored, and counted once', async () => {
    const before = (await ledger()).length;
    const metadata = { purpose: 'test' };
    const asked = await here.responses.create({ ...asking('rate=100 tokens=60'), metadata });
    const queued = { object: 'response', status: 'queued', background: true, store: true, output: [], metadata };
    expect(asked).toMatchObject(queued);
    const response = await untilOver(there, asked.id);
    expect(response).toMatchObject({ id: asked.id, status: 'completed', background: true, store: true });
    expect(response.output_text.length).toBeGreaterThan(0);
    const { data: items } = await here.responses.inputItems.list(asked.id);
    expect(items).toMatchObject([{ type: 'message', role: 'user' }]);
    const next = await here.responses.create({ model: 'demo', input: 'Again.', previous_response_id: asked.id });
    expect(next.status).toBe('completed');
    const used = await usedSince(before, 2);
    expect(used.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  });

  it('is streamed while it is produced, and again from any event, at any ingress', async () => {
    const stream = await here.responses.create({ ...asking('rate=15 tokens=60'), stream: true });
    const first = await eventsOf(stream, 12);
    const [created] = first;
    if (created?.type !== 'response.created') throw new Error('it does not begin with response.created');
    expect(first.slice(0, 3).map(({ type }) => type)).toEqual(beginning);
    const { id } = created.response;
    expect((await there.responses.retrieve(id)).status).toBe('in_progress');
    const rest = await eventsOf(await there.responses.retrieve(id, { stream: true, starting_after: 11 }));
    expect(rest.at(-1)?.type).toBe('response.completed');
    const whole = await eventsOf(await here.responses.retrieve(id, { stream: true }));
    expect(numbersOf(whole)).toEqual(whole.map((_, at) => at));
    expect([...first, ...rest]).toEqual(whole);
    const response = await here.responses.retrieve(id);
    expect(textOf(whole)).toBe(response.output_text);
    const last = { stream: true, starting_after: whole.length - 1 } as const;
    expect(await eventsOf(await here.responses.retrieve(id, last))).toEqual([]);
    const beyond = await openaiOutcome(
      there.responses.retrieve(id, { ...last, starting_after: whole.length }).asResponse(),
    );
    expect(beyond).toEqual([400, 'invalid_value', 'starting_after']);
    // The SDK's helper requests all events, and skips the earlier ones itself.
    for (const starting_after of [5, 9_999]) {
      const helped = await there.responses.stream({ response_id: id, starting_after }).finalResponse();
      expect(helped.output_text).toBe(response.output_text);
    }
  });

  it('that ends before the event after which it is streamed ends the stream with an error', async () => {
    const asked = await here.responses.create(asking('delay=4000 tokens=5'));
    const stream = await there.responses.retrieve(asked.id, { stream: true, starting_after: 9_999 });
    await expect(eventsOf(stream)).rejects.toMatchObject({ code: 'no_such_event' });
    expect((await here.responses.retrieve(asked.id)).status).toBe('completed');
  });

  it('that is cancelled stops, is counted up to that point, and its stream ends with an error', async () => {
    const before = (await ledger()).length;
    const { id, ended } = await streamLong();
    const cancelled = await there.responses.cancel(id);
    expect(cancelled).toMatchObject({ id, status: 'cancelled', output: [], background: true });
    await expect(ended).rejects.toMatchObject({ code: 'response_cancelled' });
    expect((await here.responses.cancel(id)).status).toBe('cancelled');
    expect((await here.responses.retrieve(id)).status).toBe('cancelled');
    const [used] = await usedSince(before, 1);
    expect(used).toMatchObject({ outcome: 'cancelled' });
    expect(used?.completionTokens).toBeGreaterThan(0);
    expect(used?.completionTokens).toBeLessThan(500);
    const next = here.responses.create({ model: 'demo', input: 'And?', previous_response_id: id });
    expect(await openaiOutcome(next)).toEqual([400, 'previous_response_not_found', 'previous_response_id']);
    expect(await here.responses.delete(id)).toMatchObject({ deleted: true });
    expect(await openaiOutcome(here.responses.retrieve(id))).toEqual([404, 'not_found', null]);
  });

  it('that is deleted while it is produced ends its streams with an error', async () => {
    const { id, ended } = await streamLong();
    expect(await here.responses.delete(id)).toMatchObject({ deleted: true });
    await expect(ended).rejects.toMatchObject({ code: 'response_removed' });
    expect(await openaiOutcome(there.responses.retrieve(id))).toEqual([404, 'not_found', null]);
  });

  it('that fails gives the reason, in its streams and later', async () => {
    const events = await eventsOf(await here.responses.create({ ...asking('fault=nothing-known'), stream: true }));
    const last = events.at(-1);
    if (last?.type !== 'response.failed') throw new Error(`it ends with ${last?.type}`);
    const response = await there.responses.retrieve(last.response.id);
    expect(response).toMatchObject({ status: 'failed', error: last.response.error, output: [] });
    expect(numbersOf(events)).toEqual([0, 1, 2, 3]);
  });

  it('is reported to webhooks of its owner once when it is over, as completed, incomplete, failed or cancelled', async () => {
    const receiver = await startReceiver();
    const { add, deliveries } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    const { endpoint, secret } = await add(receiver.url, { events: ['response.*'] });
    const done = await here.responses.create(asking('tokens=5'));
    const short = await here.responses.create({ ...asking('tokens=50'), max_output_tokens: 16 });
    const failed = await here.responses.create(asking('fault=nothing-known'));
    const long = await here.responses.create(asking('rate=20 tokens=2000'));
    await here.responses.cancel(long.id);
    await here.responses.cancel(long.id);
    await until(() => expect(receiver.messages).toHaveLength(4));
    const events = await Promise.all(
      receiver.messages.map(({ body, headers }) => here.webhooks.unwrap(body, headers, secret)),
    );
    expect(Object.fromEntries(events.map(({ type, data }) => [type, data]))).toEqual({
      'response.completed': { id: done.id },
      'response.incomplete': { id: short.id },
      'response.failed': { id: failed.id },
      'response.cancelled': { id: long.id },
    });
    await until(async () => (await deliveries.list(endpoint.id, { state: 'delivered', limit: 9 })).length === 4);
    expect(await deliveries.list(endpoint.id, { limit: 9 })).toHaveLength(4);
  });

  it('goes on when the client of its stream leaves, and its key is charged once', async () => {
    const { raw, id: keyId } = await cluster.addKey({ limits: { tokensPerDay: 100_000 } });
    const client = clientAt(cluster.url, raw);
    const stream = await client.responses.create({ ...asking('rate=100 tokens=80'), stream: true });
    const [created] = await eventsOf(stream, 1);
    if (created?.type !== 'response.created') throw new Error('it does not begin with response.created');
    const response = await untilOver(client, created.response.id);
    expect(response.status).toBe('completed');
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const day = Math.floor(Date.now() / 86_400_000);
    const name = `${cluster.prefix}:limit:key:${keyId}:${day}`;
    await until(async () => (await connection.redis.hget(name, 'tokens')) === String(response.usage?.total_tokens));
  });

  it('continues another response, and can be continued', async () => {
    const first = await here.responses.create({ model: 'demo', input: 'My name is Ada.', background: true });
    await untilOver(here, first.id);
    const asked = { model: 'demo', input: 'What is my name?', background: true, previous_response_id: first.id };
    const second = await there.responses.create(asked);
    expect(second.previous_response_id).toBe(first.id);
    const answer = await untilOver(there, second.id);
    expect(answer).toMatchObject({ status: 'completed', previous_response_id: first.id });
    const alone = await here.responses.create({ model: 'demo', input: 'What is my name?', store: false });
    expect(answer.usage?.input_tokens).toBeGreaterThan((alone.usage?.input_tokens ?? 0) + 5);
  });

  it('is refused in unsupported requests', async () => {
    const ask = (fields: object): Promise<unknown> =>
      openaiOutcome(here.responses.create({ model: 'demo', input: 'Hello.', background: true, ...fields }));
    expect(await ask({ store: false })).toEqual([400, 'unsupported_parameter', 'background']);
    expect(await ask({ model: 'nobody' })).toEqual([404, 'model_not_found', 'model']);
    const missing = [400, 'previous_response_not_found', 'previous_response_id'];
    expect(await ask({ previous_response_id: 'resp_1' })).toEqual(missing);
    expect(await openaiOutcome(here.responses.cancel('resp_unknown'))).toEqual([404, 'not_found', null]);
    const stranger = clientAt(cluster.url, (await cluster.addKey({})).raw);
    const asked = await here.responses.create({ model: 'demo', input: 'Hello.', background: true });
    expect(await openaiOutcome(stranger.responses.retrieve(asked.id))).toEqual([404, 'not_found', null]);
    expect(await openaiOutcome(stranger.responses.cancel(asked.id))).toEqual([404, 'not_found', null]);
    expect((await untilOver(here, asked.id)).status).toBe('completed');
  });

  it('is produced again when its upstream breaks in the middle, up to a maximum, and then fails', async () => {
    const { id } = await here.responses.create(asking('fault=drop after=5'));
    const response = await untilOver(there, id);
    expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    const events = await eventsOf(await here.responses.retrieve(id, { stream: true }));
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual(beginning);
    expect(events.filter(({ type }) => type === 'response.output_item.added')).toHaveLength(1);
    expect(events.at(-1)?.type).toBe('response.failed');
  });
});
