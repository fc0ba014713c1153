import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricOf } from '../../helpers/cluster/worker-admin.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../helpers/until.ts';
import { startProcess, type ServiceProcess } from '../../helpers/processes/start-process.ts';
import { customProvider, slowCat } from '../../helpers/cluster/worker-settings.ts';

let upstream: ServiceProcess;

/** A cluster with one slot in each tier: a GPU engine, a command-line agent, a cloud provider. */
const cluster = useScriptedCluster();
beforeAll(async () => {
  await cluster.addEngine({}, { SLOTS: '1' });
  const engine = { PORT: '0', DEMO_MODELS: 'far', DEMO_OPTIONS: 'rate=0' };
  upstream = startProcess('services/demo-engine/main.ts', engine);
  const { url } = await upstream.line('demo engine is ready');
  await cluster.addCloudWorker({ ...customProvider(String(url), 'chat'), SLOTS: '1' });
  await cluster.addCliWorker({ ...slowCat(8_000), SLOTS: '1' });
});
afterAll(() => upstream.stop());

async function ask(prompt: string, model = 'auto', more: object = {}) {
  const answer = await post({ ...cluster, body: { model, messages: [{ role: 'user', content: prompt }], ...more } });
  const body = (await answer.json()) as { model: string };
  expect(answer.status, JSON.stringify(body)).toBe(200);
  const { headers } = answer;
  return { tier: headers.get('x-rtr-tier'), model: body.model, queueMs: Number(headers.get('x-rtr-queue-ms')) };
}

/** Occupies a slot of the engines behind GPU and cloud for about eight seconds, so that the first is still busy when the last is taken. */
const long = 'Take your time.\n[demo tokens=300 rate=38]';

async function occupy(count: number) {
  const asked: ReturnType<typeof ask>[] = [];
  for (let taken = 1; taken <= count; taken += 1) {
    asked.push(ask(long));
    await until(async () => (await metricOf(cluster.adminUrl, 'rtr_jobs{state="claimed"}')) === taken);
  }
  return asked;
}

describe('auto on three tiers', () => {
  it('fills GPU first, then CLI, then cloud, and returns to GPU when that is free', async () => {
    const served = await Promise.all(await occupy(3));
    expect(served.map(({ tier }) => tier)).toEqual(['gpu', 'cli', 'cloud']);
    expect(served.map(({ model }) => model)).toEqual(['demo', 'cat', 'far']);
    expect(await ask('And now?')).toMatchObject({ tier: 'gpu' });
  });

  it('waits in every lane when all are busy, and takes the first free one', async () => {
    const busy = await occupy(3);
    const waiting = await ask('Me too.');
    expect(waiting.queueMs).toBeGreaterThan(100);
    await Promise.all(busy);
  });

  it('skips workers that cannot serve the request, busy or not', async () => {
    const [onGpu] = await occupy(1);
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
    expect(await ask('Hello.', 'auto', { tools: [tool] })).toMatchObject({ tier: 'cloud' });
    await onGpu;
  });
});

describe('a named model of one tier', () => {
  it.each([
    ['demo', 'gpu'],
    ['cat', 'cli'],
    ['far', 'cloud'],
  ])('%s is served by %s', async (model, tier) => {
    expect(await ask('Hello.', model)).toMatchObject({ tier, model });
  });

  it('is refused with 400 that names what its tier cannot do', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const body = { model: 'cat', messages: [{ role: 'user', content: 'Hello.' }], tools };
    const answer = await post({ ...cluster, body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: expect.stringContaining('tools') } });
  });
});
