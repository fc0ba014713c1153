import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const registry = join(folder, 'router.yaml');

let openai: OpenAI;
const cluster = useStarted(() => startCluster({ worker: { SLOTS: '16' } }));
beforeAll(async () => {
  writeFileSync(registry, JSON.stringify({ models: { absent: { targets: [{ model: 'absent-8b', tier: 'gpu' }] } } }));
  ({ openai } = batchClients(cluster));
  await cluster.addBatchRunner({ ROUTER_CONFIG: registry });
});

/** Lines for 12 slices, which are more than a runner has seats. */
const many = (model: string, more: object = {}) =>
  Array.from({ length: 1_150 }, (_, at) => chatLine(`l${at}`, 'Hi.', { model, max_tokens: 2, ...more }));

async function startAbsent(): Promise<void> {
  const engine = startProcess('services/demo-engine/main.ts', {
    PORT: '0',
    DEMO_MODELS: 'absent-8b',
    DEMO_TOKENS_PER_SECOND: '0',
  });
  onTestFinished(async () => void (await engine.stop()));
  const worker = await cluster.addWorker({
    ENGINE_URL: String((await engine.line('demo engine is ready'))['url']),
    SLOTS: '16',
  });
  onTestFinished(async () => void (await worker.stop()));
}

describe('a batch without a worker', () => {
  it('holds up no other batch, and begins within seconds once its worker is there, each line once', async () => {
    const absent = await submit(openai, many('absent'));
    await untilBatch(openai, absent.id, ['in_progress']);
    const small = await submit(openai, [chatLine('a', 'Hi.'), chatLine('b', 'Hi.')]);
    const startedAt = performance.now();
    expect((await untilBatch(openai, small.id)).request_counts).toMatchObject({ completed: 2 });
    expect(performance.now() - startedAt).toBeLessThan(12_000);

    // So does one with as many slices.
    const large = await submit(openai, many('demo'));
    expect((await untilBatch(openai, large.id, undefined, 60_000)).request_counts).toMatchObject({ completed: 1_150 });
    expect(await openai.batches.retrieve(absent.id)).toMatchObject({
      request_counts: { completed: 0, failed: 0 },
      paused: { reason: 'No connected worker serves `absent-8b`, which `absent` stands for.', tried_again_at: null },
    });

    await startAbsent();
    const readyAt = performance.now();
    await until(async () => ((await openai.batches.retrieve(absent.id)).request_counts?.completed ?? 0) > 0, 30_000);
    expect(performance.now() - readyAt).toBeLessThan(4_000);
    expect(await openai.batches.retrieve(absent.id)).not.toHaveProperty('paused');
    const ended = await untilBatch(openai, absent.id, undefined, 60_000);
    expect(ended.request_counts).toEqual({ total: 1_150, completed: 1_150, failed: 0 });
    const ids = (await resultsOf(openai, ended.output_file_id)).map(({ custom_id: id }) => id);
    expect(ids).toHaveLength(1_150);
    expect(new Set(ids).size).toBe(1_150);
  });
});

describe('a batch whose key has used up its rate', () => {
  it('holds up no batch of another key, and goes on at its rate', async () => {
    const { raw: key } = await cluster.addKey({ name: 'slow', limits: { requestsPerMinute: 6 } });
    const { openai: slow } = batchClients({ ...cluster, key });
    const { id } = await submit(slow, many('demo'));
    const completed = async () => (await slow.batches.retrieve(id)).request_counts?.completed ?? 0;
    await until(async () => (await completed()) >= 6, 30_000);
    const small = await submit(openai, [chatLine('a', 'Hi.'), chatLine('b', 'Hi.')]);
    expect((await untilBatch(openai, small.id)).request_counts).toMatchObject({ completed: 2 });
    await until(async () => (await completed()) > 6, 90_000);
    await slow.batches.cancel(id);
    expect((await untilBatch(slow, id)).status).toBe('cancelled');
  });
});

it('lines that wait for a worker leave the memory that all batches share to those of other batches', async () => {
  const own = await startCluster();
  onTestFinished(() => own.stop());
  // Four times as many bytes are shared: lines of four slices fill them.
  await own.addBatchRunner({ ROUTER_CONFIG: registry, MAX_BODY_BYTES: '100000' });
  const { openai: client } = batchClients(own);
  const long = 'x'.repeat(90_000);
  const lines = Array.from({ length: 400 }, (_, at) => {
    return chatLine(`l${at}`, at % 100 === 0 ? long : 'Hi.', { model: 'absent' });
  });
  const { id } = await submit(client, lines);
  await untilBatch(client, id, ['in_progress']);
  const other = await submit(client, [chatLine('a', long, { max_tokens: 2 })]);
  expect((await untilBatch(client, other.id, undefined, 40_000)).request_counts).toMatchObject({ completed: 1 });
  await client.batches.cancel(id);
  await untilBatch(client, id);
});
