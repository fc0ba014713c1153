import { randomBytes, randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { createSealer } from '#shared/core/seal.ts';
import { made } from '../helpers/accounts/made.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { readAllValues } from '../helpers/accounts/read-all-values.ts';
import { post } from '../helpers/clients/keyed-requests.ts';
import type { ReceivedSpan } from '../helpers/tracing/decode-spans.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { until } from '../helpers/until.ts';
import { startCollector } from '../helpers/tracing/start-collector.ts';
import { startEngineProxy, type EngineProxy } from '../helpers/upstreams/start-engine-proxy.ts';
import { adminCommandsOf } from '../helpers/rtr/admin-commands.ts';
import { untilItTakesOffers } from '../helpers/cluster/worker-admin.ts';
import { useStarted } from '../helpers/use-started.ts';

const [server, client, producer, consumer] = [2, 3, 4, 5];

const sealSecret = randomBytes(32);
let proxy: EngineProxy;
let cluster: Cluster;

const collector = useStarted(() => startCollector());
beforeAll(async () => {
  proxy = await startEngineProxy(() => cluster.engineUrl);
  const traced = { ...collector.environment, LOG_LEVEL: 'trace' };
  const ingress = { ...traced, SEAL_SECRET: sealSecret.toString('hex'), RECORDINGS: 'on' };
  cluster = await startCluster({ workers: 0, ingress, worker: traced });
  await untilItTakesOffers(await cluster.addWorker({ ENGINE_URL: proxy.url, ADMIN_PORT: '0' }), askUntraced);
});

afterAll(async () => {
  await cluster?.stop();
  await proxy?.stop();
});

interface Asked {
  traceId: string;
  spanId: string;
  answer: Response;
  text: string;
}

async function ask(path: string, body: object, flags = '01', url = cluster.url): Promise<Asked> {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const headers = { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: 'vendor=one' };
  const answer = await post({ url, key: cluster.key, path: `/${path}`, body, headers });
  return { traceId, spanId, answer, text: await answer.text() };
}

const secret = 'the-prompt-that-nobody-may-see';
const messages = [{ role: 'user', content: secret }];

/** Uses another conversation each time, because a conversation stays with its worker. */
const askUntraced = () =>
  ask('openai/chat/completions', { model: 'demo', messages: [{ role: 'user', content: randomUUID() }] }, '00');

/** Returns the chain of spans from the last one up to the client's own, by name. */
function chain(spans: readonly ReceivedSpan[], last: ReceivedSpan | undefined, clientSpan: string): string[] {
  const names: string[] = [];
  for (let span = last; span;) {
    names.unshift(span.name);
    const { parentId } = span;
    if (parentId === clientSpan) return ['(client)', ...names];
    span = spans.find(({ spanId }) => spanId === parentId);
  }
  return names;
}

const ofKind = (spans: readonly ReceivedSpan[], kind: number | undefined): ReceivedSpan[] =>
  spans.filter((span) => span.kind === kind);

describe("a request's trace", () => {
  it('leads from the client through ingress, queue and worker to the engine, for a streamed chat', async () => {
    const asked: Asked[] = [];
    let [before, spans]: [number, ReceivedSpan[]] = [0, []];
    // A worker that stands still for a moment gets a ticket in place of the offer.
    await until(async () => {
      before = proxy.asked.length;
      asked.unshift(await ask('openai/v1/chat/completions', { model: 'demo', stream: true, messages }));
      spans = await collector.trace(asked[0]?.traceId ?? '', 5);
      return spans.length === 5 && spans.some(({ name }) => name === 'publish offer.gpu');
    });
    const { traceId, spanId, answer, text } = made(asked[0]);
    expect(text).toContain('[DONE]');
    const [generation] = ofKind(spans, client);
    expect(chain(spans, generation, spanId)).toEqual([
      '(client)',
      'POST /api/openai/v1/chat/completions',
      'attempt',
      'publish offer.gpu',
      'process jobs.gpu',
      'chat demo',
    ]);
    const [worker, ingress] = ['rtr-gpu-worker', 'rtr-ingress'];
    expect(spans.map(({ service }) => service).sort()).toEqual([worker, worker, ingress, ingress, ingress]);
    expect(spans.some(({ failed }) => failed)).toBe(false);

    expect(generation?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'demo',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(proxy.url).port),
    });
    expect(generation?.attributes['gen_ai.provider.name']).toEqual(expect.any(String));
    expect(ofKind(spans, server)[0]?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/api/openai/v1/chat/completions',
      'http.response.status_code': 200,
      'gen_ai.request.model': 'demo',
      'gen_ai.response.model': 'demo',
      'rtr.tier': 'gpu',
      'rtr.request_id': answer.headers.get('x-request-id'),
    });
    const sending = { 'messaging.system': 'nats', 'messaging.operation.type': 'send' };
    expect(ofKind(spans, producer)[0]?.attributes).toMatchObject(sending);
    expect(ofKind(spans, consumer)[0]?.attributes).toMatchObject({ 'messaging.operation.type': 'process' });

    const sent = proxy.asked.slice(before);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.['traceparent']).toBe(`00-${traceId}-${generation?.spanId}-01`);
    expect(sent[0]?.['tracestate']).toBe('vendor=one');
  });

  it.each(['openai/v1/chat/completions', 'anthropic/v1/messages'])(
    'names %s also for a refused method',
    async (path) => {
      const traceId = randomBytes(16).toString('hex');
      const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
      const answer = await fetch(`${cluster.url}/api/${path}`, { method: 'HEAD', headers: { traceparent } });
      expect(answer.status).toBe(401);
      expect(await collector.trace(traceId, 1)).toMatchObject([{ name: `HEAD /api/${path}` }]);
    },
  );

  it('ends in the tool, for a tool call', async () => {
    const worker = await cluster.addToolsWorker(collector.environment);
    const input = { expression: '6*7' };
    const { traceId, spanId, text } = await ask('tools/v1/execute', { tool: 'calculator', input });
    expect(text).toContain('42');
    const spans = await collector.trace(traceId, 5);
    const tool = spans.find(({ name }) => name === 'execute_tool calculator');
    expect(chain(spans, tool, spanId)).toEqual([
      '(client)',
      'POST /api/tools/v1/execute',
      'attempt',
      'publish jobs.tools',
      'process jobs.tools',
      'execute_tool calculator',
    ]);
    expect(tool?.attributes).toEqual({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'calculator' });
    await worker.stop();
  });

  it('shows both attempts of a request that moved', async () => {
    const second = await cluster.addWorker({ ENGINE_URL: proxy.url, ADMIN_PORT: '0' });
    await untilItTakesOffers(second, askUntraced);
    proxy.failNext = 1;
    const { traceId, spanId, answer } = await ask('openai/chat/completions', { model: 'demo', messages });
    expect(answer.headers.get('x-rtr-attempts')).toBe('2');
    const spans = await collector.trace(traceId, 9);
    const generations = ofKind(spans, client).toSorted((a, b) => Number(a.start - b.start));
    expect(generations.map(({ failed, attributes }) => ({ failed, type: attributes['error.type'] }))).toEqual([
      { failed: true, type: 'upstream_failed' },
      { failed: false, type: undefined },
    ]);
    for (const generation of generations) expect(chain(spans, generation, spanId)).toHaveLength(6);
    const attempts = spans.filter(({ name }) => name === 'attempt').toSorted((a, b) => Number(a.start - b.start));
    expect(attempts.map(({ attributes }) => [attributes['rtr.attempt'], attributes['error.type']])).toEqual([
      [1, 'upstream_failed'],
      [2, undefined],
    ]);
    expect(new Set(attempts.map(({ attributes }) => attributes['rtr.worker'])).size).toBe(2);
    expect(ofKind(spans, server)[0]?.failed).toBe(false);
    await second.stop();
  });

  it('names a failure by its code', async () => {
    proxy.failNext = 3;
    const failed = await ask('openai/chat/completions', { model: 'demo', messages });
    proxy.failNext = 0;
    expect(failed.answer.status).toBe(502);
    const [ended] = ofKind(await collector.trace(failed.traceId, 5), server);
    expect(ended).toMatchObject({ failed: true, attributes: { 'error.type': 'upstream_failed' } });

    const refused = await ask('openai/chat/completions', { model: 'nothing', messages });
    const attributes = { 'http.response.status_code': 404, 'error.type': 'model_not_found' };
    // An error of the client is not a failure of the server (OpenTelemetry, "HTTP server span status").
    expect(await collector.trace(refused.traceId, 1)).toMatchObject([{ failed: false, attributes }]);
  });

  it('is not made if the client has opted out, which the engine receives', async () => {
    const before = proxy.asked.length;
    const { traceId } = await ask('openai/chat/completions', { model: 'demo', messages }, '00');
    const sampled = await ask('openai/chat/completions', { model: 'demo', messages });
    await collector.trace(sampled.traceId, 5);
    expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([]);
    expect(proxy.asked[before]?.['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  });

  it("has its id in the request's log lines, on the ingress and on the worker", async () => {
    const { traceId } = await ask('openai/chat/completions', { model: 'demo', messages });
    const linesOf = (service: Cluster['ingress'] | undefined) =>
      service?.lines.flatMap(({ msg, level, traceId: id }) => (id === traceId && Number(level) >= 30 ? [msg] : []));
    await until(() => expect(linesOf(cluster.ingress)).toEqual(['request served']));
    await until(() => expect(linesOf(cluster.workers[0])).toEqual(['job done']));
  });

  it('has no prompt, answer or key, whether or not its request is recorded', async () => {
    const recorded = () => ask('openai/chat/completions', { model: 'demo', messages });
    await adminCommandsOf(cluster)('keys', 'set', cluster.keyId, '--records');
    await until(async () => (await recorded()).answer.headers.get('x-rtr-recorded') === 'true');
    const [span] = ofKind(await collector.trace((await recorded()).traceId, 5), server);
    expect(Object.keys(span?.attributes ?? {}).filter((name) => /messages|instructions/.test(name))).toEqual([]);
    const sent = Buffer.concat(collector.raw).toString('latin1');
    expect(sent).toContain('gen_ai.request.model');
    expect(sent).not.toContain(secret);
    expect(sent).not.toContain(cluster.key);
  });
});

it("an owner's key seals the answer's thinking, and is in no log, metric, trace or stored value", async () => {
  const client = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
  const asked = { model: 'demo', input: 'Think first.', reasoning: { effort: 'high' as const } };
  const { output } = await client.responses.create({ ...asked, include: ['reasoning.encrypted_content'] });
  const key = new OwnerKeys(() => [sealSecret]).deriveGrantKeys(cluster.keyId) ?? '';
  const { unseal } = createSealer(Buffer.from(key, 'base64url'));
  const sealed = output.map((item) => (item.type === 'reasoning' ? item.encrypted_content : undefined));
  expect(unseal(sealed.find((text) => typeof text === 'string') ?? '')).toContain('text');

  await until(() => collector.spans.length > 2);
  const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  const { redis } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  const stored = await readAllValues(redis, `${cluster.prefix}:`);
  const logs = [cluster.ingress, ...cluster.workers].flatMap(({ lines }) => lines);
  const seen = JSON.stringify(logs) + Buffer.concat(collector.raw).toString('latin1') + metrics + stored;
  expect(seen).toContain(cluster.keyId);
  for (const text of [key, sealSecret.toString('hex'), sealSecret.toString('base64url')])
    expect(seen).not.toContain(text);
  expect(await redis.exists(`${cluster.prefix}:cluster-secret`)).toBe(0);
});

describe('a collector that is away', () => {
  it('delays neither answers nor the exit', async () => {
    const gone = await startCollector();
    await gone.stop();
    const { process, url } = await cluster.addIngress(gone.environment);
    for (let count = 0; count < 20; count += 1) {
      const { answer } = await ask('openai/chat/completions', { model: 'demo', messages }, '01', url);
      expect(answer.status).toBe(200);
    }
    const startedAt = performance.now();
    expect(await process.stop()).toBe(0);
    // An exporter that waits for its collector takes ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(9_000);
  });
});
