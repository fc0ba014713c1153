import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { engineState, post } from '../helpers/clients/keyed-requests.ts';
import { chatLine, resultsOf, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { hasSaid } from '../helpers/cluster/has-said.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { firstAdministrator } from '../helpers/console/first-administrator.ts';
import { goodPassword } from '../helpers/console/good-password.ts';
import { startMessagesUpstream } from '../helpers/upstreams/start-messages-upstream.ts';
import { until } from '../helpers/until.ts';
import { startProcess, type ServiceProcess } from '../helpers/processes/start-process.ts';
import { startSecuredNats } from '../helpers/servers/start-secured-nats.ts';
import { customProvider, slowCat } from '../helpers/cluster/worker-settings.ts';
import { useStarted } from '../helpers/use-started.ts';

const prefix = `c${randomBytes(4).toString('hex')}`;
const path = '/worker-credentials';
let cluster: Cluster;
let other: { process: ServiceProcess; url: string };
/** An administrator at two ingress nodes that share the folder of the authority. */
let ada: [ConsoleClient, ConsoleClient];

/** Returns the settings of a component with a credential. */
const having = (file: string): Record<string, string> => ({ NATS_CREDENTIALS: file });

/** A bound for files that NATS accepts on any disk. */
const fewFiles = { FILES_MAX_BYTES: String(64 * 1024 ** 2) };

/** A cluster in which each component has its own credential: an ingress and one worker of each tier. */
const nats = useStarted(() => startSecuredNats({ prefix }));
const upstream = useStarted(() => startMessagesUpstream(['far'], () => [{ type: 'text', text: 'Hello.' }]));
beforeAll(async () => {
  const { files } = nats;
  cluster = await startCluster({
    prefix,
    natsUrl: `nats://127.0.0.1:${nats.port}`,
    ingress: { ...having(files.ingress), ...fewFiles, CREDENTIALS_DIR: nats.folder },
    worker: having(files.gpu),
  });
  other = await cluster.addIngress();
  const { client: here } = await firstAdministrator(cluster);
  ada = [here, new ConsoleClient(other.url)];
  await ada[1].signIn('ada@example.com', goodPassword);
  await cluster.addCloudWorker({ ...having(files.cloud), ...customProvider(upstream.url, 'messages') });
  await cluster.addCliWorker({ ...having(files.cli), ...slowCat() });
  await cluster.addToolsWorker(having(files.tools));
});

afterAll(() => cluster.stop());

const openai = (): OpenAI =>
  new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });

const isRefusal = (line: object): boolean => /permission/i.test(JSON.stringify(line));

async function ask(model: string) {
  const asked = openai().chat.completions.create({ model, messages: [{ role: 'user', content: 'Say hello.' }] });
  const { data, response } = await asked.withResponse();
  const [tier, worker] = ['tier', 'worker'].map((name) => response.headers.get(`x-rtr-${name}`));
  return { text: data.choices[0]?.message.content ?? '', tier, worker };
}

describe('a cluster in which every component has a credential of its own', () => {
  it('stores files, reads and removes them', async () => {
    const bytes = randomBytes(1_000_000);
    const { files } = openai();
    const { id } = await files.create({ purpose: 'user_data', file: await toFile(bytes, 'a.bin') });
    expect(Buffer.from(await (await files.content(id)).arrayBuffer()).equals(bytes)).toBe(true);
    expect(await files.delete(id)).toMatchObject({ deleted: true });
    expect(cluster.ingress.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('works on batches, which live requests preempt', async () => {
    const runner = await cluster.addBatchRunner({ ...having(nats.files.runner), ...fewFiles });
    const long = { demo: { first_token_delay_ms: 2_000 } };
    const lines = Array.from({ length: 20 }, (_, at) => chatLine(`l${at}`, 'Hi.', at < 10 ? long : {}));
    const { id } = await submit(openai(), lines);
    await untilBatch(openai(), id, ['in_progress', 'completed']);
    expect((await ask('demo')).tier).toBe('gpu');
    const batch = await untilBatch(openai(), id);
    expect(batch.request_counts).toEqual({ total: 20, completed: 20, failed: 0 });
    expect((await resultsOf(openai(), batch.output_file_id)).length).toBe(20);
    const failures = runner.lines.filter((line) => Number(line['level']) >= 50 || isRefusal(line));
    expect(failures).toEqual([]);
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
    const messages = [{ role: 'user' as const, content: 'Say hello.\n[demo tokens=50]' }];
    const stream = await openai().chat.completions.create({ model: 'demo', stream: true, messages });
    let pieces = 0;
    for await (const _ of stream) pieces += 1;
    expect(pieces).toBeGreaterThan(10);
  });

  it('runs tools', async () => {
    const body = { tool: 'calculator', input: { expression: '6 * 7' } };
    const answer = await post({ ...cluster, path: '/tools/v1/execute', body });
    expect(await answer.json()).toMatchObject({ content: [{ text: '42' }], is_error: false });
  });

  it('stops the generation when its client disconnects', async () => {
    const controller = new AbortController();
    const stream = await openai().chat.completions.create(
      { model: 'demo', stream: true, messages: [{ role: 'user', content: 'Go on.\n[demo tokens=500 rate=20]' }] },
      { signal: controller.signal },
    );
    await stream[Symbol.asyncIterator]().next();
    expect((await engineState(cluster)).active).toBe(1);
    controller.abort();
    await until(async () => (await engineState(cluster)).active === 0);
  });

  it('never tries an operation that is not permitted', () => {
    const lines = [cluster.ingress, ...cluster.workers].flatMap(({ lines }) => lines);
    expect(lines.length).toBeGreaterThan(cluster.workers.length);
    expect(lines.filter(isRefusal)).toEqual([]);
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

  it('joins with a credential that an administrator makes, and is gone once it is revoked and the servers reloaded', async () => {
    const { status, body } = await ada[0].post(path, { name: 'joes-box', tier: 'gpu', expiresInDays: 1 });
    expect(status).toBe(201);
    expect(body.command).toContain(`--nats nats://127.0.0.1:${nats.port} --credentials joes-box.creds`);
    const file = join(nats.folder, 'joes-box.creds');
    writeFileSync(file, body.text);
    const worker = startProcess('services/gpu-worker/main.ts', {
      NATS_URL: `nats://127.0.0.1:${nats.port}`,
      WORKER_ID: 'w1',
      ENGINE_URL: cluster.engineUrl,
      ...having(file),
    });
    onTestFinished(() => worker.kill());
    const said = (message: string) => hasSaid(cluster.ingress, 'joes-box.w1', message);
    await until(() => said('worker joined'));
    expect(await ada[1].delete(`${path}/joes-box`)).toMatchObject({ status: 200 });
    nats.reload();
    await worker.line('broker connection lost');
    await until(() => said('worker is lost'));
    // The worker tries again every few seconds, with a log line each time.
    const refusal = await worker.line('the broker refuses this credential');
    expect(refusal).toMatchObject({ reason: expect.any(String) });
    const errors = worker.lines.filter(({ level }) => Number(level) >= 50);
    expect(errors.length).toBeLessThanOrEqual(3);
    expect(errors.filter(({ msg }) => msg !== refusal.msg)).toEqual([]);
    // The others are not affected.
    expect(await ask('demo')).toMatchObject({ tier: 'gpu', worker: expect.stringMatching(/^gpu\./) });
    const secret = /-----BEGIN USER NKEY SEED-----\s+(\S+)/.exec(body.text)?.[1] ?? 'no seed';
    expect(body.text).toContain(secret);
    expect(JSON.stringify([cluster.ingress.lines, other.process.lines])).not.toContain(secret);
  });
});

describe('credentials that administrators make', () => {
  it('are all recorded when two ingress nodes and the command line make them at the same time', async () => {
    const make = (client: ConsoleClient, name: string) => client.post(path, { name, tier: 'cloud' });
    const names = ['a', 'b', 'c', 'd'];
    const [made] = await Promise.all([
      Promise.all(names.map((name, at) => make(ada[at % 2 === 0 ? 0 : 1], name))),
      nats.issue({ role: 'tools', name: 'by-hand' }),
    ]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const recorded = readAuthority(nats.folder).issued.map(({ name }) => name);
    expect(recorded).toEqual(expect.arrayContaining([...names, 'by-hand']));
    const listed = (await ada[1].get(path)).body as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining([...names, 'by-hand']));
    expect((await ada[0].get('/about')).body).toMatchObject({ managesCredentials: true, needsCredentials: true });
  });
});
