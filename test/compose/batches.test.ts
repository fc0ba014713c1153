// @module-tag docker
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../helpers/batches/batch-clients.ts';
import { startProcess } from '../helpers/processes/start-process.ts';
import { until } from '../helpers/until.ts';
import { findLlamaServer, startLlamaServer } from '../helpers/upstreams/start-llama-server.ts';
import { ComposeProject } from './compose-project.ts';
import { outsideCredential } from './outside-credential.ts';

const options = inject('composeOptions');
const compose = new ComposeProject(options);
const { url, key } = inject('composeCluster') ?? { url: '', key: '' };

it('the batch runner of the Compose file works on a batch', async () => {
  const { openai } = batchClients({ url, key });
  const { id } = await submit(openai, [chatLine('a', 'Say A.'), chatLine('b', 'Say B.')]);
  const batch = await untilBatch(openai, id, undefined, 60_000);
  expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  const results = await resultsOf(openai, batch.output_file_id);
  expect(results.map(({ custom_id: custom }) => custom).toSorted()).toEqual(['a', 'b']);
});

it('a batch is answered by a real engine on another machine', { tags: ['llama-server'] }, async () => {
  const { openai } = batchClients({ url, key });
  await compose.run('--profile', 'outside', 'up', '--detach', '--wait', '--no-build', 'gate');
  onTestFinished(async () => void (await compose.run('rm', '--stop', '--force', 'gate')));
  const folder = await mkdtemp(join(tmpdir(), 'rtr-test-gate-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = await outsideCredential(compose, { tier: 'gpu', name: 'llama-box', folder });
  const engine = await startLlamaServer(findLlamaServer() ?? '');
  onTestFinished(() => engine.stop());
  const address = `ws://127.0.0.1:${options.env?.['GATE_PORT']}`;
  const access = ['worker', 'gpu', '--nats', address, '--credentials', file];
  const worker = startProcess('services/rtr/main.ts', { ENGINE_URL: engine.url, WORKER_ID: 'w1' }, access);
  onTestFinished(async () => void (await worker.stop()));
  await until(async () => {
    const { data } = await openai.models.list();
    return data.some(({ id }) => id === 'tiny');
  }, 30_000);
  const short = { model: 'tiny', max_tokens: 8 };
  const { id } = await submit(openai, [chatLine('a', 'Once upon', short), chatLine('b', 'a time', short)]);
  const batch = await untilBatch(openai, id, undefined, 90_000);
  expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 });
  const results = await resultsOf(openai, batch.output_file_id);
  expect(results.map(({ custom_id: custom }) => custom).toSorted()).toEqual(['a', 'b']);
  for (const { response } of results) {
    expect(response).toMatchObject({ status_code: 200, body: { object: 'chat.completion', model: 'tiny' } });
    const usage = response?.body['usage'] as { completion_tokens: number } | undefined;
    expect(usage?.completion_tokens).toBeGreaterThan(0);
  }
});
