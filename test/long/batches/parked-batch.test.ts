import type OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { batchClients, chatLine, completedOf, resultsOf } from '../../helpers/batches/batch-clients.ts';
import { submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const models = { absent: { targets: [{ model: 'absent-8b', tier: 'gpu' }] } };
const registry = withRegistry(JSON.stringify({ models }));

let openai: OpenAI;
const cluster = useStarted(() => startCluster({ worker: { SLOTS: '16' } }));
beforeAll(async () => {
  ({ openai } = batchClients(cluster));
  await cluster.addBatchRunner(registry);
});

/** Lines for 12 slices, which are more than a runner has seats. */
const many = (model: string, more: object = {}) =>
  Array.from({ length: 1_150 }, (_, at) => chatLine(`l${at}`, 'Hi.', { model, max_tokens: 2, ...more }));

async function startAbsent(): Promise<void> {
  const settings = { PORT: '0', DEMO_MODELS: 'absent-8b', DEMO_OPTIONS: 'rate=0' };
  const engine = stopAfterTest(startProcess('services/demo-engine/main.ts', settings));
  const { url } = await engine.line('demo engine is ready');
  stopAfterTest(await cluster.addWorker({ ENGINE_URL: String(url), SLOTS: '16' }));
}

describe('a batch without a worker', () => {
  it('holds up no other batch, and begins within seconds once its worker is there, each line once', async () => {
    const absent = await submit(openai, many('absent'));
    await untilBatch(openai, absent.id, ['in_progress']);
    const small = await submit(openai, [chatLine('a', 'Hi.'), chatLine('b', 'Hi.')]);
    expect((await untilBatch(openai, small.id)).request_counts).toMatchObject({ completed: 2 });

    // So does one with as many slices.
    const large = await submit(openai, many('demo'));
    expect((await untilBatch(openai, large.id, undefined, 60_000)).request_counts).toMatchObject({ completed: 1_150 });
    expect(await openai.batches.retrieve(absent.id)).toMatchObject({
      request_counts: { completed: 0, failed: 0 },
      paused: { reason: 'No connected worker serves `absent-8b`, which `absent` stands for.', tried_again_at: null },
    });

    await startAbsent();
    const readyAt = performance.now();
    await until(async () => (await completedOf(openai, absent.id)) > 0);
    // By its own time, it would be tried again after a minute.
    expect(performance.now() - readyAt).toBeLessThan(10_000);
    expect(await openai.batches.retrieve(absent.id)).not.toHaveProperty('paused');
    const ended = await untilBatch(openai, absent.id, undefined, 60_000);
    expect(ended.request_counts).toEqual({ total: 1_150, completed: 1_150, failed: 0 });
    const ids = (await resultsOf(openai, ended.output_file_id)).map(({ custom_id: id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([1_150, 1_150]);
  });
});

describe('a batch whose key has used up its rate', () => {
  it('holds up no batch of another key, and goes on at its rate', async () => {
    const { raw: key } = await cluster.addKey({ name: 'slow', limits: { requestsPerMinute: 6 } });
    const { openai: slow } = batchClients({ ...cluster, key });
    const { id } = await submit(slow, many('demo'));
    await until(async () => (await completedOf(slow, id)) >= 6);
    const small = await submit(openai, [chatLine('a', 'Hi.'), chatLine('b', 'Hi.')]);
    expect((await untilBatch(openai, small.id)).request_counts).toMatchObject({ completed: 2 });
    await until(async () => (await completedOf(slow, id)) > 6, 90_000);
    await slow.batches.cancel(id);
    expect((await untilBatch(slow, id)).status).toBe('cancelled');
  });
});

it('lines that wait for a worker leave the memory that all batches share to those of other batches', async () => {
  const own = stopAfterTest(await startCluster());
  // Four times as many bytes are shared: lines of four slices fill them.
  await own.addBatchRunner({ ...registry, MAX_BODY_BYTES: '100000' });
  const { openai: client } = batchClients(own);
  const long = 'x'.repeat(90_000);
  const lines = Array.from({ length: 400 }, (_, at) => {
    return chatLine(`l${at}`, at % 100 === 0 ? long : 'Hi.', { model: 'absent' });
  });
  const { id } = await submit(client, lines);
  await untilBatch(client, id, ['in_progress']);
  const other = await submit(client, [chatLine('a', long, { max_tokens: 2 })]);
  expect((await untilBatch(client, other.id, undefined, 90_000)).request_counts).toMatchObject({ completed: 1 });
  await client.batches.cancel(id);
  await untilBatch(client, id);
});
