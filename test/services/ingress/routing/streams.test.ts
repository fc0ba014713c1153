import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { openRaw, rawHead, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { metricOf } from '../../../helpers/cluster/worker-admin.ts';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { uniqueName } from '../../../helpers/unique-name.ts';
import { until } from '../../../helpers/until.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const mebibyte = 1024 * 1024;

const workerId = uniqueName('w');
const cluster = useScriptedCluster({ ingress: { KEEP_ALIVE_MS: '200' } }, { id: workerId });

const begun: Step = { write: 'data: 1\n\n' };
const endless: Step[] = [begun, { hang: true }];

/** Adds a worker of a model whose streams begin when the gate opens, and do not end. */
async function addGated(model: string) {
  const gate = Promise.withResolvers<void>();
  const handler: JobHandler = async (_, reply, signal) => {
    await gate.promise;
    reply.write('data: 1\n\n');
    await once(signal, 'abort');
    throw signal.reason;
  };
  await cluster.addScripted({ models: [{ id: model, capabilities: ['stream'] }], handler });
  return gate;
}

describe('an answer', () => {
  it('that is streamed is relayed before it is over', async () => {
    // A keep-alive that comes first, when a process stands still, begins the answer before its worker is known.
    await until(async () => {
      const answer = await cluster.post(endless, { stream: true });
      const reader = answer.body?.getReader();
      const first = Buffer.from((await reader?.read())?.value ?? []).toString();
      await reader?.cancel();
      expect([answer.status, first]).toEqual([200, 'data: 1\n\n']);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-rtr-tier': 'gpu',
        'x-rtr-worker': workerId,
        'x-rtr-attempts': '1',
      });
    });
  });

  it('that is not streamed is sent whole, with its length', async () => {
    const answer = await cluster.post([{ write: '{"a":' }, { waitMs: 20 }, { write: '1}' }]);
    const { headers } = answer;
    expect([headers.get('content-type'), headers.get('content-length')]).toEqual(['application/json', '7']);
    expect(await answer.json()).toEqual({ a: 1 });
  });

  it('that takes long sends comments meanwhile, and nothing else', async () => {
    // A process that stands still sends fewer of them, or more.
    await until(async () => {
      const answer = await cluster.post([{ waitMs: 1_100 }, begun], { stream: true });
      expect(await answer.text()).toMatch(/^(: keep-alive\n\n){2,5}data: 1\n\n$/);
    });
  });

  it('that fails before its first piece has the status of the error', async () => {
    for (const stream of [true, false]) {
      const answer = await cluster.post([{ fail: 'context_length_exceeded' }], { stream });
      const told = ['content-type', 'x-should-retry'].map((name) => answer.headers.get(name));
      expect([answer.status, ...told]).toEqual([400, 'application/json', 'false']);
      expect(await answer.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
    }
  });

  it('that fails midway ends with an error event, never as if it were complete', async () => {
    const answer = await cluster.post([begun, { waitMs: 5 }, { fail: 'upstream_failed' }], { stream: true });
    const [first, event, end] = (await answer.text()).split('\n\n');
    expect([first, end]).toEqual(['data: 1', '']);
    expect(JSON.parse(event?.slice('data: '.length) ?? '')).toEqual({
      error: { message: expect.any(String), type: 'server_error', param: null, code: 'upstream_failed' },
    });
  });

  it('that fails after a keep-alive ends with an error event, because its status is sent already', async () => {
    const steps: Step[] = [{ waitMs: 450 }, { fail: 'context_length_exceeded' }];
    // An ingress that stands still meanwhile sends no keep-alive.
    await until(async () => {
      const answer = await cluster.post(steps, { stream: true });
      const text = await answer.text();
      expect(text).toMatch(/^(: keep-alive\n\n)+data: {"error":{.*"code":"context_length_exceeded"}}\n\n$/);
      expect(answer.status).toBe(200);
    });
  });
});

it('the metrics count requests, waits, tokens, streams and refusals', async () => {
  await (await cluster.post([begun], { stream: true })).text();
  await (await cluster.postRaw('{')).text();
  const streaming = await cluster.post(endless, { stream: true });
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
    const text = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
    for (const line of counted) expect(text).toMatch(line);
  });
  await streaming.body?.cancel();
  expect((await fetch(`${cluster.adminUrl}/health`)).status).toBe(200);
  expect((await fetch(`${cluster.adminUrl}/nothing`)).status).toBe(404);
});

it("a request's body is released when its answer begins", async () => {
  const gate = await addGated('held');
  const filler = 'x'.repeat(5 * mebibyte);
  // A keep-alive begins the answer of HTTP.
  const held = await cluster.post([], { stream: true, filler, model: 'held' });
  const heldBytes = () => metricOf(cluster.adminUrl, 'rtr_held_body_bytes');
  expect(await heldBytes()).toBeGreaterThan(filler.length);
  gate.resolve();
  await until(async () => expect(await heldBytes()).toBe(0));
  await held.body?.cancel();
});

describe('an ingress with little memory and time', () => {
  // A quarter of the memory is for bodies. So little holds a hundred requests.
  const bounds = { MEMORY_BYTES: '12000000', FIRST_TOKEN_TIMEOUT_MS: '4000' };
  const small = useStarted(() => cluster.addIngress(bounds));
  const ask = (steps: Step[], fields: Record<string, unknown> = {}) => cluster.post(steps, fields, small);

  it('refuses a body while others take all memory, and accepts it when they are gone', async () => {
    const raw = await openRaw(small.url);
    raw.socket.write(rawHead(cluster.key, ['content-length: 2900001']) + 'x'.repeat(2_900_000));
    await until(async () => (await metricOf(small.adminUrl, 'rtr_held_body_bytes')) === 2_900_000);
    const filler = 'x'.repeat(200_000);
    expect((await ask([{ write: 'x' }], { filler })).status).toBe(503);
    raw.socket.destroy();
    await until(async () => (await ask([{ write: 'x' }], { filler })).status === 200);
  });

  it('refuses a request while as many run as it admits', async () => {
    // One key gets at most nine tenths of the places.
    const running: Response[] = [];
    while (running.length < 90) running.push(await ask(endless, { stream: true }));
    expect(new Set(running.map(({ status }) => status))).toEqual(new Set([200]));
    const answer = await ask([{ write: 'x' }]);
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'overloaded' } }]);
    for (const { body } of running) await body?.cancel();
    await until(async () => (await ask([{ write: 'x' }])).status === 200);
  });

  it('ends an answer whose first token does not arrive in time', async () => {
    const text = await (await ask([{ hang: true }], { stream: true })).text();
    expect(text).toContain('"code":"first_token_timeout"');
  });
});

describe('an ingress', () => {
  const own = useStarted(() => cluster.addIngress({ DRAIN_MS: '6000' }));

  it('knows the models as soon as it has started', async () => {
    const headers = { authorization: `Bearer ${cluster.key}` };
    expect((await fetch(`${own.url}/api/openai/models/demo`, { headers })).status).toBe(200);
  });

  it('holds no memory of a request while its answer streams', async () => {
    const gate = await addGated('gated');
    const externalBytes = async () => (await metricOf(own.adminUrl, 'nodejs_external_memory_bytes')) ?? NaN;
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
    const [streaming, lasting] = await Promise.all([
      cluster.post([{ write: '0\n' }, { waitMs: 3_000 }, { write: '1\n' }], { stream: true }, own),
      cluster.post(endless, { stream: true, model: 'slow' }, own),
    ]);
    const kept = await openRaw(own.url);
    const body = JSON.stringify(chatRequest([{ write: 'served' }]));
    // This request is on its way when the signal arrives: it is served, as the last one on its connection.
    kept.socket.write(rawHead(cluster.key, [`content-length: ${body.length}`]));
    await until(async () => (await metricOf(own.adminUrl, 'rtr_open_requests')) === 3);
    const before = performance.now();
    const stopped = own.process.stop();
    await own.process.line('finishing running answers');
    kept.socket.write(body);
    await kept.closed;
    const { status, headers, body: answer } = readRawAnswer(kept.text());
    expect([status, headers['connection'], answer]).toEqual([200, 'close', 'served']);
    await expect(openRaw(own.url)).rejects.toThrow('ECONNREFUSED');
    expect((await streaming.text()).replaceAll(': keep-alive\n\n', '')).toBe('0\n1\n');
    expect(await lasting.text()).toContain('"code":"shutting_down"');
    expect(await stopped).toBe(0);
    // The usual drain takes half a minute.
    expect(performance.now() - before).toBeLessThan(20_000);
    await until(() => events.includes('aborted'));
  });
});
