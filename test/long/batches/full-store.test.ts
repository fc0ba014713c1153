import { expect, inject, it } from 'vitest';
import { batchClients, chatLine, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { expectEachOnce } from '../../helpers/batches/expect-each-once.ts';
import { purposesOf, uploadBytes } from '../../helpers/batches/uploads.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';

const mebibyte = 1024 * 1024;

it.concurrent('a batch whose results have no room pauses, says so, shows none of them, and goes on when there is room', async (test) => {
  const lines = 300;
  // The least that a stream of files may have.
  const settings = { FILES_MAX_BYTES: String(64 * mebibyte) };
  const cluster = await startCluster({ worker: { SLOTS: '16' }, ingress: settings });
  test.onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner(settings);
  const { openai } = batchClients(cluster);
  // Files of one owner may take half of what those of all others leave of fifteen sixteenths of the store.
  const others: { other: typeof openai; large: string }[] = [];
  for (const size of [29, 15, 7, 3, 2]) {
    const { openai: other } = batchClients({ url: cluster.url, key: (await cluster.addKey({})).raw });
    others.push({ other, large: await uploadBytes(other, size * mebibyte) });
  }
  const long = Array.from({ length: lines }, (_, at) => chatLine(`line-${at}`, `Say ${at}.\n[demo tokens=4000]`));
  const { id } = await submit(openai, long);
  await until(async () => 'paused' in (await openai.batches.retrieve(id)), 60_000);
  const paused = await openai.batches.retrieve(id);
  expect(paused.status).toBe('in_progress');
  expect(JSON.stringify(paused)).toContain('storage for files is full');
  expect(await purposesOf(openai)).toEqual(['batch']);
  for (const { other, large } of others) await other.files.delete(large);
  const batch = await untilBatch(openai, id, undefined, 120_000);
  expect('paused' in batch).toBe(false);
  await expectEachOnce(openai, batch, { lines, redisUrl: inject('redisUrl'), prefix: cluster.prefix });
  expect(await purposesOf(openai)).toEqual(['batch', 'batch_output']);
});

it.concurrent('a batch whose results use up the quota of its owner pauses, says so, and goes on when there is room', async (test) => {
  const lines = 1_000;
  const quota = 6 * mebibyte;
  const settings = { FILES_OWNER_BYTES: String(quota) };
  const cluster = await startCluster({ worker: { SLOTS: '16' }, ingress: settings });
  test.onTestFinished(() => cluster.stop());
  await cluster.addBatchRunner(settings);
  const { openai } = batchClients(cluster);
  const large = await uploadBytes(openai, quota - 400_000);
  const long = Array.from({ length: lines }, (_, at) => chatLine(`line-${at}`, `Say ${at}.\n[demo tokens=200]`));
  const { id, input_file_id: input } = await submit(openai, long);
  await until(async () => 'paused' in (await openai.batches.retrieve(id)), 60_000);
  const paused = await openai.batches.retrieve(id);
  // Slices that have begun end: eight of ten.
  const { total, completed = 0 } = paused.request_counts ?? {};
  expect([total, completed >= 100, completed < lines]).toEqual([lines, true, true]);
  expect(JSON.stringify(paused)).toContain('delete some');
  // Neither another file nor another batch is taken, nor does the input make room as long as it is read.
  await expect(uploadBytes(openai, 1)).rejects.toMatchObject({ status: 403, code: 'storage_quota_exceeded' });
  const again = { input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  await expect(openai.batches.create(again)).rejects.toMatchObject({ status: 403, code: 'storage_quota_exceeded' });
  await openai.files.delete(input);
  await openai.files.delete(large);
  const batch = await untilBatch(openai, id, undefined, 120_000);
  await expectEachOnce(openai, batch, { lines, redisUrl: inject('redisUrl'), prefix: cluster.prefix });
  expect(await purposesOf(openai)).toEqual(['batch_output']);
});
