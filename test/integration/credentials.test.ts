import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { chatLine, resultsOf, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { until } from '../helpers/until.ts';
import { startProcess, type ServiceProcess } from '../helpers/processes/start-process.ts';
import { startSecuredNats, type SecuredNats } from '../helpers/servers/start-secured-nats.ts';

const prefix = 'guarded';
let nats: SecuredNats;
let cluster: Cluster;
let upstream: ServiceProcess;

/** Settings of a part with a credential. */
const having = (file: string): Record<string, string> => ({ NATS_CREDENTIALS: file });

/** NATS has room for so few on any disk. */
const fewFiles = { FILES_MAX_BYTES: String(64 * 1024 ** 2) };

/** A cluster in which each part has its own credential: an ingress and one worker of each tier. */
beforeAll(async () => {
  nats = await startSecuredNats({ prefix });
  upstream = startProcess('services/demo-engine/main.ts', {
    PORT: '0',
    DEMO_MODELS: 'far',
    DEMO_TOKENS_PER_SECOND: '0',
  });
  const { url } = await upstream.line('demo engine is ready');
  const { files } = nats;
  cluster = await startCluster({
    prefix,
    natsUrl: `nats://127.0.0.1:${nats.port}`,
    ingress: { ...having(files.ingress), ...fewFiles },
    worker: having(files.gpu),
  });
  await cluster.addCloudWorker({
    ...having(files.cloud),
    PROVIDER: 'custom',
    PROVIDER_URL: `${String(url)}/v1`,
    PROVIDER_KEY: 'none',
    PROVIDER_FORMAT: 'chat',
  });
  await cluster.addCliWorker({
    ...having(files.cli),
    CLI_KIND: 'command',
    CLI_COMMAND: `${process.execPath} ${process.cwd()}/test/helpers/processes/slow-cat.mjs 0`,
    CLI_MODELS: 'cat',
  });
  await cluster.addToolsWorker(having(files.tools));
});

afterAll(async () => {
  await cluster.stop();
  await upstream.stop();
  await nats.stop();
});

const client = (): OpenAI =>
  new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });

async function ask(model: string): Promise<{ text: string; tier: string | null; worker: string | null }> {
  const { data, response } = await client()
    .chat.completions.create({ model, messages: [{ role: 'user', content: 'Say hello.' }] })
    .withResponse();
  const { headers } = response;
  return {
    text: data.choices[0]?.message.content ?? '',
    tier: headers.get('x-rtr-tier'),
    worker: headers.get('x-rtr-worker'),
  };
}

describe('a cluster in which every part has a credential of its own', () => {
  it('stores files, reads and removes them', async () => {
    const bytes = randomBytes(1_000_000);
    const { files } = client();
    const { id } = await files.create({ purpose: 'user_data', file: await toFile(bytes, 'a.bin') });
    expect(Buffer.from(await (await files.content(id)).arrayBuffer()).equals(bytes)).toBe(true);
    expect(await files.delete(id)).toMatchObject({ deleted: true });
    expect(cluster.ingress.lines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  it('works on batches, which live requests make give way', async () => {
    const runner = await cluster.addBatchRunner({ ...having(nats.files.runner), ...fewFiles });
    const long = { demo: { first_token_delay_ms: 2_000 } };
    const lines = Array.from({ length: 20 }, (_, at) => chatLine(`l${at}`, 'Hi.', at < 10 ? long : {}));
    const { id } = await submit(client(), lines);
    await untilBatch(client(), id, ['in_progress']);
    expect((await ask('demo')).tier).toBe('gpu');
    const batch = await untilBatch(client(), id);
    expect(batch.request_counts).toEqual({ total: 20, completed: 20, failed: 0 });
    expect((await resultsOf(client(), batch.output_file_id)).length).toBe(20);
    expect(runner.lines.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  it.each([
    ['demo', 'gpu'],
    ['cat', 'cli'],
    ['far', 'cloud'],
  ])('serves %s on %s, by a worker that is named after its credential', async (model, tier) => {
    const served = await ask(model);
    expect(served).toMatchObject({ tier, worker: expect.stringMatching(new RegExp(`^${tier}\\.`)) });
    expect(served.text).not.toBe('');
  });

  it('streams', async () => {
    const stream = await client().chat.completions.create({
      model: 'demo',
      stream: true,
      messages: [{ role: 'user', content: 'Say hello.\n[demo tokens=50]' }],
    });
    let pieces = 0;
    for await (const _ of stream) pieces += 1;
    expect(pieces).toBeGreaterThan(10);
  });

  it('runs tools', async () => {
    const answer = await fetch(`${cluster.url}/api/tools/v1/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ tool: 'calculator', input: { expression: '6 * 7' } }),
    });
    expect(await answer.json()).toMatchObject({ content: [{ text: '42' }], is_error: false });
  });

  it('stops the generation when its client disconnects', async () => {
    const controller = new AbortController();
    const stream = await client().chat.completions.create(
      { model: 'demo', stream: true, messages: [{ role: 'user', content: 'Go on.\n[demo tokens=500 rate=20]' }] },
      { signal: controller.signal },
    );
    await stream[Symbol.asyncIterator]().next();
    const active = async (): Promise<number> =>
      ((await (await fetch(`${cluster.engineUrl}/demo/state`)).json()) as { active: number }).active;
    expect(await active()).toBe(1);
    controller.abort();
    await until(async () => (await active()) === 0, 3_000);
  });

  it('never tries anything that is not permitted', () => {
    const lines = [cluster.ingress, ...cluster.workers].flatMap(({ lines }) => lines);
    expect(lines.length).toBeGreaterThan(cluster.workers.length);
    expect(lines.filter((line) => /permission/i.test(JSON.stringify(line)))).toEqual([]);
  });
});

describe('a worker', () => {
  it('with the credential of another tier names the mistake and exits', async () => {
    const worker = startProcess('services/tools-worker/main.ts', {
      NATS_URL: `nats://127.0.0.1:${nats.port}`,
      ...having(nats.files.gpu),
    });
    const [code] = (await once(worker.child, 'close')) as [number];
    expect(code).toBe(78);
    expect(JSON.stringify(worker.lines)).toContain('the credential gpu is for gpu, not for tools');
  });

  it('joins with a credential that the server never saw before, and is gone once it is revoked', async () => {
    // A name of its own for each run: a revoked one stays revoked.
    const name = `joes-box-${randomBytes(4).toString('hex')}`;
    const file = await nats.issue({ role: 'gpu', name });
    const worker = startProcess('services/gpu-worker/main.ts', {
      NATS_URL: `nats://127.0.0.1:${nats.port}`,
      WORKER_ID: 'w1',
      ENGINE_URL: cluster.engineUrl,
      ...having(file),
    });
    onTestFinished(() => worker.kill());
    const said = (message: string) =>
      cluster.ingress.lines.some(({ msg, worker: who }) => msg === message && who === `${name}.w1`);
    await until(() => said('worker joined'));
    await nats.revoke(name);
    await worker.line('broker connection lost');
    await until(() => said('worker is lost'), 10_000);
    // It tries again every few seconds, with a log line each time.
    const refusal = await worker.line('the broker refuses this credential');
    expect(refusal).toMatchObject({ reason: expect.any(String) });
    const errors = worker.lines.filter(({ level }) => Number(level) >= 50);
    expect(errors.length).toBeLessThanOrEqual(3);
    expect(errors.filter(({ msg }) => msg !== refusal.msg)).toEqual([]);
    // The others are not affected.
    expect(await ask('demo')).toMatchObject({ tier: 'gpu', worker: expect.stringMatching(/^gpu\./) });
  });
});
