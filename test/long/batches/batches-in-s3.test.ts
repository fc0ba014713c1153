import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import OpenAI, { toFile } from 'openai';
import { batchClients, completedOf, resultsOf, slowLines } from '../../helpers/batches/batch-clients.ts';
import { submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { expectEachOnce } from '../../helpers/batches/expect-each-once.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { startPausableProxy } from '../../helpers/servers/pausable-proxy.ts';
import { objectsIn, startS3 } from '../../helpers/servers/start-s3.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

/** What stands before the content of a file in its form. */
const formStart = [
  '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n',
  '--b\r\ncontent-disposition: form-data; name="file"; filename="in.bin"\r\n\r\n',
].join('');

const lines = 450;
const mebibyte = 1024 * 1024;

let cluster: Cluster;
let openai: OpenAI;
const s3 = useStarted(() => startS3());
/** Stands before the S3 server. */
const way = useStarted(() => startPausableProxy(Number(new URL(s3.settings['FILES_S3_ENDPOINT'] ?? '').port)));
beforeAll(async () => {
  const settings = { ...s3.settings, FILES_S3_ENDPOINT: `http://127.0.0.1:${way.port}` };
  cluster = await startCluster({ worker: { SLOTS: '16' }, ingress: settings });
  await cluster.addBatchRunner(settings);
  ({ openai } = batchClients(cluster));
});
afterAll(() => cluster.stop());

/** They take twelve seconds in all. */
const all = slowLines(lines, 400);

describe('a batch whose files are in S3', () => {
  it('has its results there, and nothing else when it is over', async () => {
    const before = objectsIn(s3).length;
    const batch = await untilBatch(openai, (await submit(openai, all)).id, undefined, 120_000);
    await expectEachOnce(openai, batch, { lines, redisUrl: inject('redisUrl'), prefix: cluster.prefix });
    await until(() => expect(objectsIn(s3)).toHaveLength(before + 2));
    for (const file of [batch.input_file_id, batch.output_file_id ?? '']) await openai.files.delete(file);
    await until(() => expect(objectsIn(s3)).toHaveLength(before));
  });

  it('goes on when the store has been away, with every line once', async () => {
    const { raw } = await cluster.addKey({});
    const { openai: other } = batchClients({ url: cluster.url, key: raw });
    const { id } = await submit(other, all);
    const completed = () => completedOf(other, id);
    await until(async () => (await completed()) > 100);
    way.cut();
    const { input_file_id: input } = await other.batches.retrieve(id);
    await expect(other.files.content(input)).rejects.toMatchObject({ status: 503 });
    // Lines whose slice has been read go on; no slice can end.
    for (let before = -1, now = await completed(); now > before; now = await completed()) {
      before = now;
      await sleep(1_500);
    }
    expect((await other.batches.retrieve(id)).status).toBe('in_progress');
    way.resume();
    const batch = await untilBatch(other, id, undefined, 120_000);
    expect(batch.request_counts).toEqual({ total: lines, completed: lines, failed: 0 });
    const ids = (await resultsOf(other, batch.output_file_id)).map(({ custom_id: custom }) => custom);
    expect(ids.toSorted()).toEqual(Array.from({ length: lines }, (_, at) => `line-${at}`).toSorted());
  });

  it('cannot be created while the store is away, and an upload that it interrupts leaves nothing', async () => {
    const once = new OpenAI({ baseURL: openai.baseURL, apiKey: (await cluster.addKey({})).raw, maxRetries: 0 });
    const before = objectsIn(s3);
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(formStart);
      for (let piece = 0; piece < 24; piece += 1) {
        if (piece === 12) way.cut();
        yield Buffer.alloc(mebibyte, 'x');
      }
      yield Buffer.from('\r\n--b--\r\n');
    };
    const answer = await fetch(`${openai.baseURL}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${once.apiKey}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: ReadableStream.from(body()),
      duplex: 'half',
    });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { code: 'store_unavailable', message: expect.any(String) } });
    expect((await once.files.list()).data).toEqual([]);
    const file = await toFile(Buffer.from(JSON.stringify(all[0])), 'in.jsonl');
    await expect(once.files.create({ file, purpose: 'batch' })).rejects.toMatchObject({ status: 503 });
    way.resume();
    expect((await once.files.list()).data).toEqual([]);
    // Those of the batch before this one may be removed meanwhile.
    expect(objectsIn(s3).filter((object) => !before.includes(object))).toEqual([]);
    await once.files.create({ file, purpose: 'batch' });
    expect((await once.files.list()).data).toHaveLength(1);
  });
});
