import { expect, inject, it, onTestFinished } from 'vitest';
import { batchClients, chatLine, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { expectEachOnce } from '../../helpers/batches/expect-each-once.ts';
import { purposesOf, uploadBytes } from '../../helpers/batches/uploads.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';

const mebibyte = 1024 * 1024;

it('a batch whose results have no room pauses, says so, shows none of them, and goes on when there is room', async () => {
  const lines = 300;
  // The least that a stream of files may have.
  const settings = { FILES_MAX_BYTES: String(64 * mebibyte) };
  const cluster = await startCluster({ worker: { SLOTS: '16' }, ingress: settings });
  onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner(settings);
  const { openai } = batchClients(cluster);
  const { openai: other } = batchClients({ url: cluster.url, key: (await cluster.addKey({})).raw });
  const large = await uploadBytes(other, 62 * mebibyte);
  const long = Array.from({ length: lines }, (_, at) => chatLine(`line-${at}`, `Say ${at}.\n[demo tokens=4000]`));
  const { id } = await submit(openai, long);
  await until(async () => 'paused' in (await openai.batches.retrieve(id)), 60_000);
  const paused = await openai.batches.retrieve(id);
  expect(paused.status).toBe('in_progress');
  expect(JSON.stringify(paused)).toContain('storage for files is full');
  expect(await purposesOf(openai)).toEqual(['batch']);
  await other.files.delete(large);
  const batch = await untilBatch(openai, id, undefined, 90_000);
  expect('paused' in batch).toBe(false);
  await expectEachOnce(openai, batch, { lines, redisUrl: inject('redisUrl'), prefix: cluster.prefix });
  expect(await purposesOf(openai)).toEqual(['batch', 'batch_output']);
});
