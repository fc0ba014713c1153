import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import {
  chatRequest,
  startScriptedCluster,
  type ScriptedCluster,
} from '../../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../../helpers/until.ts';

let cluster: ScriptedCluster;
beforeAll(async () => {
  cluster = await startScriptedCluster({
    ingress: { KEEP_ALIVE_MS: '100', NO_WORKER_TIMEOUT_MS: '700', FIRST_TOKEN_TIMEOUT_MS: '1500' },
  });
  await cluster.addScripted({ id: 'first' });
});
afterAll(() => cluster.stop());

describe('an answer', () => {
  it('that is streamed is relayed piece by piece', async () => {
    const answer = await cluster.post([{ write: 'data: 1\n\n' }, { waitMs: 300 }, { write: 'data: 2\n\n' }], {
      stream: true,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(answer.headers.get('x-rtr-tier')).toBe('gpu');
    expect(answer.headers.get('x-rtr-worker')).toBe('first');
    expect(answer.headers.get('x-rtr-attempts')).toBe('1');
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
    expect(text).toMatch(/^(: keep-alive\n\n){3,11}data: 1\n\n$/);
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
    const answer = await cluster.post([{ waitMs: 250 }, { fail: 'context_length_exceeded' }], { stream: true });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toMatch(/^(: keep-alive\n\n)+data: {"error":{.*"code":"context_length_exceeded"}}\n\n$/);
  });

  it('whose first token does not arrive fails after the timeout', async () => {
    const text = await (await cluster.post([{ hang: true }], { stream: true })).text();
    expect(text).toContain('"code":"first_token_timeout"');
  });

  it('that no worker can give is refused with 503 and a time to retry', async () => {
    const other = await startScriptedCluster({ ingress: { NO_WORKER_TIMEOUT_MS: '300' } });
    onTestFinished(() => other.stop());
    const answer = await other.post([], { model: 'auto' });
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ error: { code: 'no_worker_available', type: 'server_error' } });
  });
});

describe('the metrics', () => {
  it('count requests, waits, tokens, streams and refusals', async () => {
    await (await cluster.post([{ write: 'data: 1\n\n' }], { stream: true })).text();
    await (await cluster.postRaw('{')).text();
    const streaming = await cluster.post([{ write: 'data: 1\n\n' }, { hang: true }], { stream: true });
    const metrics = async (): Promise<string> => (await fetch(`${cluster.adminUrl}/metrics`)).text();
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
      const text = await metrics();
      for (const line of counted) expect(text).toMatch(line);
    });
    await streaming.body?.cancel();
    expect((await fetch(`${cluster.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${cluster.adminUrl}/health`)).status).toBe(200);
    expect((await fetch(`${cluster.adminUrl}/nothing`)).status).toBe(404);
  });
});

describe("a request's body", () => {
  it('is released when its answer begins', async () => {
    const heldBytes = async (): Promise<number> => {
      const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
      return Number(metrics.match(/^rtr_held_body_bytes (\d+)$/m)?.[1]);
    };
    const filler = 'x'.repeat(5_000_000);
    const held = await cluster.post([{ waitMs: 300 }, { write: 'data: 1\n\n' }, { hang: true }], {
      stream: true,
      filler,
    });
    expect(await heldBytes()).toBeGreaterThan(filler.length);
    const reader = held.body?.getReader();
    await until(async () => Buffer.from((await reader?.read())?.value ?? []).includes('data: 1'));
    expect(await heldBytes()).toBe(0);
    await reader?.cancel();
  });

  it('takes no memory while a long answer streams', async () => {
    const own = await startScriptedCluster();
    onTestFinished(() => own.stop());
    await own.addScripted();
    const externalBytes = async (): Promise<number> => {
      const metrics = await (await fetch(`${own.adminUrl}/metrics`)).text();
      return Number(metrics.match(/^nodejs_external_memory_bytes (\S+)$/m)?.[1]);
    };
    // The memory of output is one slab from the first answer on, of which only what is used takes memory of the system.
    await (await own.post([{ write: 'x' }])).text();
    const before = await externalBytes();
    const filler = 'x'.repeat(8 * 1024 * 1024);
    const steps = [{ waitMs: 1_000 }, { write: 'data: 1\n\n' }, { hang: true as const }];
    const asked = Array.from({ length: 10 }, () => own.post(steps, { stream: true, filler }));
    await until(async () => expect(await externalBytes()).toBeGreaterThan(before + 75 * 1024 * 1024), 5_000);
    const streams = await Promise.all(asked);
    // Further requests make Node collect garbage.
    const collected = async (): Promise<number> => {
      await (await own.post([{ write: 'x' }], { filler })).text();
      return externalBytes();
    };
    await until(async () => expect(await collected()).toBeLessThan(before + 35 * 1024 * 1024), 10_000);
    for (const { body } of streams) await body?.cancel();
  });

  it('is refused with 503 while other bodies take all memory, and read when they are gone', async () => {
    const small = await startScriptedCluster({ ingress: { MAX_HELD_BYTES: '1000000', MAX_ACTIVE: '3' } });
    onTestFinished(() => small.stop());
    await small.addScripted();
    const raw = await openRaw(small.url);
    raw.socket.write(
      `POST /api/openai/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${small.key}\r\ncontent-length: 900001\r\n\r\n${'x'.repeat(900_000)}`,
    );
    const metrics = async (): Promise<string> => (await fetch(`${small.adminUrl}/metrics`)).text();
    await until(async () => expect(await metrics()).toMatch(/^rtr_held_body_bytes 900000$/m));
    const filler = 'x'.repeat(200_000);
    expect((await small.post([{ write: 'x' }], { filler })).status).toBe(503);
    raw.socket.destroy();
    await until(async () => expect((await small.post([{ write: 'x' }], { filler })).status).toBe(200));
    const running = await Promise.all(
      [1, 2, 3].map(() => small.post([{ write: 'data: 1\n\n' }, { hang: true }], { stream: true })),
    );
    const answer = await small.post([{ write: 'x' }]);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { code: 'overloaded' } });
    for (const { body } of running) await body?.cancel();
    await until(async () => expect((await small.post([{ write: 'x' }])).status).toBe(200));
  });
});

describe.concurrent('an ingress', () => {
  it('finishes its streams on SIGTERM, accepts no connections, and exits', async ({ expect, onTestFinished }) => {
    const own = await startScriptedCluster();
    onTestFinished(() => own.stop());
    await own.addScripted();
    const streaming = await own.post([{ count: 20, everyMs: 50 }], { stream: true });
    const kept = await openRaw(own.url);
    const body = JSON.stringify(chatRequest([{ write: 'served' }]));
    const request = `POST /api/openai/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${own.key}\r\ncontent-length: ${body.length}\r\n\r\n`;
    // This request is on its way at the time of the signal: it is served, as the last one on its connection.
    kept.socket.write(request);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const stopped = own.ingress.stop();
    await own.ingress.line('finishing running answers');
    kept.socket.write(body);
    await kept.closed;
    const { status, headers, body: answer } = readRawAnswer(kept.text());
    expect(status).toBe(200);
    expect(headers['connection']).toBe('close');
    expect(answer).toBe('served');
    await expect(fetch(`${own.url}/health`)).rejects.toThrow('fetch failed');
    expect(await streaming.text()).toBe(Array.from({ length: 20 }, (_, at) => `${at}\n`).join(''));
    expect(await stopped).toBe(0);
  });

  it('ends the answers that outlast its drain with an error', async ({ expect, onTestFinished }) => {
    const own = await startScriptedCluster({ ingress: { DRAIN_MS: '500' } });
    onTestFinished(() => own.stop());
    const events: string[] = [];
    await own.addScripted({}, (event) => events.push(event));
    const streaming = await own.post([{ write: 'data: 1\n\n' }, { hang: true }], { stream: true });
    const before = performance.now();
    const stopped = own.ingress.stop();
    const text = await streaming.text();
    expect(text).toContain('"code":"shutting_down"');
    expect(await stopped).toBe(0);
    expect(performance.now() - before).toBeLessThan(3_000);
    await until(() => events.includes('aborted'));
  });

  it('knows the models as soon as it has started', async ({ expect }) => {
    const { url } = await cluster.addIngress();
    const answer = await fetch(`${url}/api/openai/models/demo`, {
      headers: { authorization: `Bearer ${cluster.key}` },
    });
    expect(answer.status).toBe(200);
  });
});
