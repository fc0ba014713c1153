import { expect, inject, it, onTestFinished } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';

it('a batch whose budget is used up pauses, says so, and goes on when the budget does', async () => {
  const cluster = await shareCluster({ key: { limits: { tokensPerDay: 3_000 } } });
  onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner();
  const { openai } = batchClients(cluster);
  const lines = Array.from({ length: 100 }, (_, at) => chatLine(`l${at}`, `Say ${at}.`, { max_tokens: 100 }));
  const { id } = await submit(openai, lines);
  await until(async () => 'paused' in (await openai.batches.retrieve(id)));
  const paused = await openai.batches.retrieve(id);
  expect(paused.status).toBe('in_progress');
  expect(JSON.stringify(paused)).toContain('3000 tokens a day');
  const { completed, failed } = paused.request_counts ?? {};
  expect(completed).toBeGreaterThan(0);
  expect(completed).toBeLessThan(100);
  expect(failed).toBe(0);

  const { store } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
  await store.change(cluster.keyId, { limits: { tokensPerDay: 1_000_000 } });
  const batch = await untilBatch(openai, id, undefined, 90_000);
  expect(batch.request_counts).toEqual({ total: 100, completed: 100, failed: 0 });
  expect('paused' in batch).toBe(false);
  const results = await resultsOf(openai, batch.output_file_id);
  expect(new Set(results.map(({ custom_id: custom }) => custom)).size).toBe(100);
});
