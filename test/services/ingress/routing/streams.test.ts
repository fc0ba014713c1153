import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import {
  chatRequest,
  useScriptedCluster,
  type ScriptedCluster,
} from '../../../helpers/cluster/start-scripted-cluster.ts';
import { uniqueName } from '../../../helpers/unique-name.ts';
import { until } from '../../../helpers/until.ts';

const mebibyte = 1024 * 1024;

const workerId = uniqueName('w');
const cluster = useScriptedCluster({ ingress: { KEEP_ALIVE_MS: '200' } }, { id: workerId });

async function metricsOf({ adminUrl }: { adminUrl: string }): Promise<string> {
  return (await fetch(`${adminUrl}/metrics`)).text();
}

/** Returns a metric without labels. */
async function valueOf(metric: string, ingress: { adminUrl: string }): Promise<number> {
  return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(await metricsOf(ingress))?.[1]);
}

describe('an answer', () => {
  it('that is streamed is relayed piece by piece', async () => {
    const steps = [{ write: 'data: 1\n\n' }, { waitMs: 300 }, { write: 'data: 2\n\n' }];
    const answer = await cluster.post(steps, { stream: true });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-rtr-tier': 'gpu',
      'x-rtr-worker': workerId,
      'x-rtr-attempts': '1',
    });
    const pieces: string[] = [];
    const times: number[] = [];
    const decoder = new TextDecoder();
    for await (const piece of answer.body ?? []) {
      pieces.push(decoder.decode(piece as Uint8Array));
      times.push(performance.now());
    }
    expect(pieces[0]).toBe('data: 1\n\n');
    expect(pieces.at(-1)).toBe('data: 2\n\n');
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(200);
  });

  it('that is not streamed is sent whole, with its length', async () => {
    const answer = await cluster.post([{ write: '{"a":' }, { waitMs: 20 }, { write: '1}' }]);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('content-length')).toBe('7');
    expect(await answer.json()).toEqual({ a: 1 });
  });

  it('that takes long sends comments meanwhile, and nothing else', async () => {
    const answer = await cluster.post([{ waitMs: 1_100 }, { write: 'data: 1\n\n' }], { stream: true });
    const text = await answer.text();
    expect(text).toMatch(/^(: keep-alive\n\n){2,5}data: 1\n\n$/);
  });

  it('that fails before its first piece has the status of the error', async () => {
    for (const stream of [true, false]) {
      const answer = await cluster.post([{ fail: 'context_length_exceeded' }], { stream });
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('x-should-retry')).toBe('false');
      expect(await answer.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
    }
  });

  it('that fails midway ends with an error event, never as if it were complete', async () => {
    const steps = [{ write: 'data: 1\n\n' }, { waitMs: 5 }, { fail: 'upstream_failed' as const }];
    const text = await (await cluster.post(steps, { stream: true })).text();
    const [first, event, end] = text.split('\n\n');
    expect(first).toBe('data: 1');
    expect(JSON.parse(event?.slice('data: '.length) ?? '')).toEqual({
      error: { message: expect.any(String), type: 'server_error', param: null, code: 'upstream_failed' },
    });
    expect(end).toBe('');
  });

  it('that fails after a keep-alive ends with an error event, because its status is sent already', async () => {
    const answer = await cluster.post([{ waitMs: 450 }, { fail: 'context_length_exceeded' }], { stream: true });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toMatch(/^(: keep-alive\n\n)+data: {"error":{.*"code":"context_length_exceeded"}}\n\n$/);
  });
});

it('the metrics count requests, waits, tokens, streams and refusals', async () => {
  await (await cluster.post([{ write: 'data: 1\n\n' }], { stream: true })).text();
  await (await cluster.postRaw('{')).text();
  const streaming = await cluster.post([{ write: 'data: 1\n\n' }, { hang: true }], { stream: true });
  const counted = [
    /^rtr_jobs\{state="streaming"\} 1$/m,
    /^rtr_requests_total\{format="chat",model="demo",tier="gpu",outcome="done"\} [1-9]/m,
    /^rtr_refusals_total\{format="chat",code="invalid_json"\} [1-9]/m,
    /^rtr_queue_wait_seconds_count\{tier="gpu"\} [1-9]/m,
    /^rtr_time_to_first_token_seconds_count\{model="demo",tier="gpu"\} [1-9]/m,
    /^rtr_request_duration_seconds_sum\{format="chat",model="demo",tier="gpu"\} /m,
    /^rtr_tokens_total\{model="demo",tier="gpu",kind="completion"\} /m,
    /^rtr_jobs\{state="queued"\} 0$/m,
    /^process_resident_memory_bytes /m,
    /^rtr_open_requests 1$/m,
  ];
  await until(async () => {
    const text = await metricsOf(cluster);
    for (const line of counted) expect(text).toMatch(line);
  });
  await streaming.body?.cancel();
  expect((await fetch(`${cluster.url}/metrics`)).status).toBe(404);
  expect((await fetch(`${cluster.adminUrl}/health`)).status).toBe(200);
  expect((await fetch(`${cluster.adminUrl}/nothing`)).status).toBe(404);
});

it("a request's body is released when its answer begins", async () => {
  const steps = [{ waitMs: 300 }, { write: 'data: 1\n\n' }, { hang: true as const }];
  const filler = 'x'.repeat(5 * mebibyte);
  const held = await cluster.post(steps, { stream: true, filler });
  expect(await valueOf('rtr_held_body_bytes', cluster)).toBeGreaterThan(filler.length);
  const reader = held.body?.getReader();
  await until(async () => Buffer.from((await reader?.read())?.value ?? []).includes('data: 1'));
  expect(await valueOf('rtr_held_body_bytes', cluster)).toBe(0);
  await reader?.cancel();
});

describe('an ingress with little memory and time', () => {
  let small: Awaited<ReturnType<ScriptedCluster['addIngress']>>;
  const ask = (steps: Step[], fields: object = {}) => cluster.post(steps, { ...fields }, small);
  beforeAll(async () => {
    small = await cluster.addIngress({ MAX_HELD_BYTES: '1000000', MAX_ACTIVE: '3', FIRST_TOKEN_TIMEOUT_MS: '1500' });
  });

  it('refuses a body while others take all memory, and accepts it when they are gone', async () => {
    const raw = await openRaw(small.url);
    raw.socket.write(
      `POST /api/openai/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${cluster.key}\r\ncontent-length: 900001\r\n\r\n${'x'.repeat(900_000)}`,
    );
    await until(async () => (await valueOf('rtr_held_body_bytes', small)) === 900_000);
    const filler = 'x'.repeat(200_000);
    expect((await ask([{ write: 'x' }], { filler })).status).toBe(503);
    raw.socket.destroy();
    await until(async () => (await ask([{ write: 'x' }], { filler })).status === 200);
  });

  it('refuses a request while as many run as it admits', async () => {
    const steps = [{ write: 'data: 1\n\n' }, { hang: true as const }];
    const running = await Promise.all([1, 2, 3].map(() => ask(steps, { stream: true })));
    const answer = await ask([{ write: 'x' }]);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { code: 'overloaded' } });
    for (const { body } of running) await body?.cancel();
    await until(async () => (await ask([{ write: 'x' }])).status === 200);
  });

  it('ends an answer whose first token does not arrive in time', async () => {
    const text = await (await ask([{ hang: true }], { stream: true })).text();
    expect(text).toContain('"code":"first_token_timeout"');
  });
});

describe('an ingress', () => {
  let own: Awaited<ReturnType<ScriptedCluster['addIngress']>>;
  beforeAll(async () => {
    own = await cluster.addIngress({ DRAIN_MS: '3000' });
  });

  it('knows the models as soon as it has started', async () => {
    const headers = { authorization: `Bearer ${cluster.key}` };
    expect((await fetch(`${own.url}/api/openai/models/demo`, { headers })).status).toBe(200);
  });

  it('holds no memory of a request while its answer streams', async () => {
    const gate = Promise.withResolvers<void>();
    const handler: JobHandler = async (_, reply, signal) => {
      await gate.promise;
      reply.write('data: 1\n\n');
      await once(signal, 'abort');
      throw signal.reason;
    };
    await cluster.addScripted({ models: [{ id: 'gated', capabilities: ['stream'] }], handler });
    const externalBytes = () => valueOf('nodejs_external_memory_bytes', own);
    const filler = 'x'.repeat(8 * mebibyte);
    const ask = (model: string) => cluster.post([{ write: 'x' }], { stream: model === 'gated', model, filler }, own);
    // From the first answer on, the memory of output is one slab, and only its used parts take memory of the system.
    await (await cluster.post([{ write: 'x' }], {}, own)).text();
    const before = await externalBytes();
    const asked = Array.from({ length: 10 }, () => ask('gated'));
    await until(async () => expect(await externalBytes()).toBeGreaterThan(before + 75 * mebibyte));
    gate.resolve();
    const streams = await Promise.all(asked);
    // Further requests make Node collect garbage.
    const collected = async (): Promise<number> => {
      await (await ask('demo')).text();
      return externalBytes();
    };
    await until(async () => expect(await collected()).toBeLessThan(before + 35 * mebibyte));
    for (const { body } of streams) await body?.cancel();
  });

  it('finishes its streams on SIGTERM, ends those that outlast its drain, accepts no connections, and exits', async () => {
    const events: string[] = [];
    await cluster.addScripted({ models: [{ id: 'slow', capabilities: ['stream'] }] }, (event) => events.push(event));
    await until(async () => (await cluster.post([{ write: 'x' }], { model: 'slow' }, own)).status === 200);
    const [streaming, endless] = await Promise.all([
      cluster.post([{ count: 10, everyMs: 50 }], { stream: true }, own),
      cluster.post([{ write: 'data: 1\n\n' }, { hang: true }], { stream: true, model: 'slow' }, own),
    ]);
    const kept = await openRaw(own.url);
    const body = JSON.stringify(chatRequest([{ write: 'served' }]));
    const request = `POST /api/openai/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${cluster.key}\r\ncontent-length: ${body.length}\r\n\r\n`;
    // This request is on its way when the signal arrives: it is served, as the last one on its connection.
    kept.socket.write(request);
    await until(async () => (await valueOf('rtr_open_requests', own)) === 3);
    const before = performance.now();
    const stopped = own.process.stop();
    await own.process.line('finishing running answers');
    kept.socket.write(body);
    await kept.closed;
    const { status, headers, body: answer } = readRawAnswer(kept.text());
    expect(status).toBe(200);
    expect(headers['connection']).toBe('close');
    expect(answer).toBe('served');
    await expect(openRaw(own.url)).rejects.toThrow('ECONNREFUSED');
    expect(await streaming.text()).toBe(Array.from({ length: 10 }, (_, at) => `${at}\n`).join(''));
    expect(await endless.text()).toContain('"code":"shutting_down"');
    expect(await stopped).toBe(0);
    expect(performance.now() - before).toBeLessThan(10_000);
    await until(() => events.includes('aborted'));
  });
});
