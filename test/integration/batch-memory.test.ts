import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchClients, chatLine, submit } from '../helpers/batches/batch-clients.ts';
import { shareCluster, type SharedCluster } from '../helpers/cluster/share-cluster.ts';
import { adminOf, metricOf } from '../helpers/cluster/worker-admin.ts';
import { until } from '../helpers/until.ts';

/** The largest body, which almost every line has. */
const bodyBytes = 64 * 1024;

let cluster: SharedCluster;
beforeAll(async () => {
  cluster = await shareCluster();
});
afterAll(() => cluster.stop());

it('the requests of batches that run take as much memory as four of the largest bodies, and the others wait', async () => {
  const runner = await cluster.addBatchRunner({ ADMIN_PORT: '0', MAX_BODY_BYTES: String(bodyBytes) });
  const admin = await adminOf(runner);
  const text = 'x'.repeat(bodyBytes - 4_096);
  const slow = { demo: { first_token_delay_ms: 1_000 } };
  const lines = Array.from({ length: 8 }, (_, at) => chatLine(String(at), text, slow));
  const { openai } = batchClients(cluster);
  const { id } = await submit(openai, lines);
  const running: number[] = [];
  await until(async () => {
    running.push(Number(await metricOf(admin, 'rtr_batch_lines_running')));
    return (await openai.batches.retrieve(id)).status === 'completed';
  });
  expect((await openai.batches.retrieve(id)).request_counts).toEqual({ total: 8, completed: 8, failed: 0 });
  expect(Math.max(...running)).toBe(4);
});
