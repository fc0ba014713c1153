import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { batchClients, chatLine, resultsOf, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { until } from '../../helpers/until.ts';

/** A line whose request has 480,000 texts, for which a runner with so little memory has no room. */
const deadly = chatLine('deadly', 'Hi.', {
  model: 'asleep',
  more: Array.from({ length: 480_000 }, (_, at) => `${at}`.padEnd(60, '.')),
});
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=64' };

it('a line that ends its runner is set aside after two runners, with an error for its owner, and the others are run', async () => {
  const models = { asleep: { targets: [{ model: 'asleep-8b', tier: 'gpu' }] } };
  const registry = withRegistry(JSON.stringify({ models }));
  const cluster = await shareCluster();
  onTestFinished(() => cluster.stop());
  const { openai } = batchClients(cluster);
  const roomy = await cluster.addBatchRunner(registry);
  const { id } = await submit(openai, [deadly, chatLine('other', 'Hi.')]);
  await untilBatch(openai, id, ['in_progress']);
  // It waits for a worker of its model.
  await roomy.stop();
  let ends = 0;
  const isOver = async (): Promise<boolean> => (await openai.batches.retrieve(id)).status === 'completed';
  while (!(await isOver())) {
    const runner = await cluster.addBatchRunner({ ...registry, ...smallHeap });
    const ended = once(runner.child, 'exit').then(() => 'ended');
    if ((await Promise.race([ended, until(isOver, 120_000).then(() => 'over')])) === 'ended') ends += 1;
  }
  expect(ends).toBe(2);
  const batch = await openai.batches.retrieve(id);
  expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
  const [error] = await resultsOf(openai, batch.error_file_id);
  expect(error).toMatchObject({
    custom_id: 'deadly',
    response: { status_code: 422, body: { error: { code: 'workers_died' } } },
  });
});
