import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { rssBytes } from '../bench/cluster/process-usage.ts';
import { allOf, inPieces } from '../helpers/files/bytes.ts';
import { openObjects } from '../helpers/files/open-objects.ts';
import { startNats } from '../helpers/servers/start-nats.ts';
import { startNatsCluster } from '../helpers/servers/start-nats-cluster.ts';
import { startS3 } from '../helpers/servers/start-s3.ts';
import type { ServiceProcess } from '../helpers/processes/start-process.ts';

const mebibyte = 1024 * 1024;

const largest = 192 * mebibyte;

/** Random bytes that are cheap to make: one block again and again, each time with its number. */
function* blocks(bytes: number): Generator<Buffer> {
  const block = randomBytes(mebibyte);
  for (let at = 0; at < bytes; at += block.length) {
    block.writeUInt32BE(at / block.length);
    yield Buffer.from(block.subarray(0, Math.min(block.length, bytes - at)));
  }
}

/** A form with a file of so many bytes, and the digest of the file once it was read. */
function form(bytes: number) {
  const hash = createHash('sha256');
  const boundary = 'b'.repeat(20);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n`);
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="large.bin"\r\n\r\n`);
    for (const block of blocks(bytes)) {
      hash.update(block);
      yield block;
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return { body: body(), headers, digest: () => hash.digest('hex') };
}

/** Mebibytes of memory that a process has at most, from now until the result is called. */
function watchMemory({ child }: ServiceProcess): () => number {
  const now = (): number => rssBytes(child.pid ?? 0) / mebibyte;
  let most = now();
  const timer = setInterval(() => {
    most = Math.max(most, now());
  }, 50);
  return () => {
    clearInterval(timer);
    return Math.max(most, now());
  };
}

interface Uploaded {
  status: number;
  file: { id: string; bytes: number };
  digest: () => string;
}

async function upload({ url, key }: Pick<Cluster, 'url' | 'key'>, bytes: number, attempts = 4): Promise<Uploaded> {
  const { body, headers, digest } = form(bytes);
  const answer = await fetch(`${url}/api/openai/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: ReadableStream.from(body),
    duplex: 'half',
  });
  const file = (await answer.json()) as Uploaded['file'];
  // As the SDKs do, when a machine is so busy that a store does not answer in time.
  if (answer.status === 503 && attempts > 1) return upload({ url, key }, bytes, attempts - 1);
  return { status: answer.status, file, digest };
}

const get = ({ url, key }: Cluster, path: string) =>
  fetch(`${url}/api/openai/v1/files${path}`, { headers: { authorization: `Bearer ${key}` } });

async function download(cluster: Cluster, id: string): Promise<string> {
  const answer = await get(cluster, `/${id}/content`);
  const hash = createHash('sha256');
  for await (const piece of answer.body ?? []) hash.update(piece as Uint8Array);
  return hash.digest('hex');
}

describe.concurrent('the largest file that is allowed', () => {
  it.for(['JetStream', 'S3'])('is stored in %s and read, without being in memory', async (where, context) => {
    const { expect, onTestFinished } = context;
    const nats = await startNats();
    onTestFinished(() => nats.stop());
    const s3 = where === 'S3' ? await startS3() : undefined;
    onTestFinished(async () => s3?.stop());
    const bounds = { FILE_MAX_BYTES: String(largest), FILES_MAX_BYTES: String(5 * largest) };
    const ingress = { SEAL_SECRET: randomBytes(32).toString('hex'), ...bounds, ...s3?.settings };
    const cluster = await startCluster({ natsUrl: nats.url, workers: 0, engineUrl: 'http://127.0.0.1:9', ingress });
    onTestFinished(() => cluster.stop());
    // What every part has loaded is not what a large file takes.
    const first = await upload(cluster, 20 * mebibyte);
    await download(cluster, first.file.id);
    await sleep(1_000);
    const before = watchMemory(cluster.ingress)();
    const most = watchMemory(cluster.ingress);
    const { status, file, digest } = await upload(cluster, largest);
    expect({ ...file, status }).toMatchObject({ status: 200, bytes: largest });
    expect(await download(cluster, file.id)).toBe(digest());
    expect(most() - before).toBeLessThan(100);
    // A byte more is refused, and leaves nothing.
    const more = await upload(cluster, largest + 1);
    expect(more.status).toBe(413);
    const listed = await get(cluster, '');
    expect(((await listed.json()) as { data: object[] }).data.length).toBe(2);
  });
});

describe('objects in JetStream', () => {
  it('are stored across a restart of the broker, and refused while it is away', async () => {
    const nats = await startNats();
    onTestFinished(() => nats.stop());
    const { store } = await openObjects({ natsUrl: nats.url });
    const bytes = randomBytes(2 * mebibyte);
    async function* interrupted(): AsyncGenerator<Uint8Array> {
      yield* inPieces(bytes.subarray(0, mebibyte));
      await nats.kill();
      await nats.restart();
      yield* inPieces(bytes.subarray(mebibyte));
    }
    await store.put('across', interrupted());
    expect((await allOf(await store.get('across')))?.equals(bytes)).toBe(true);
    const brief = await openObjects({ natsUrl: nats.url, retryForMs: 3_000 });
    await brief.store.put('there', inPieces(bytes));
    await nats.kill();
    const away = { code: 'store_unavailable' };
    await expect(brief.store.put('late', inPieces(bytes))).rejects.toMatchObject(away);
    await expect(brief.store.get('there')).rejects.toMatchObject(away);
    await expect(brief.store.delete('there')).rejects.toMatchObject(away);
    await nats.restart();
  });
});

describe('objects on three NATS servers', () => {
  it('have as much room as the servers, and are read and stored when one of them is lost', async () => {
    const servers = await startNatsCluster();
    onTestFinished(() => servers.stop());
    await servers.whole();
    const { store } = await openObjects({ natsUrl: servers.url, maxBytes: 4 * 1024 * mebibyte });
    const bytes = randomBytes(10 * mebibyte);
    await store.put('one', inPieces(bytes));
    await servers.whole();
    servers.kill('two');
    expect((await allOf(await store.get('one')))?.equals(bytes)).toBe(true);
    await store.put('two', inPieces(bytes));
    expect((await allOf(await store.get('two')))?.equals(bytes)).toBe(true);
    const large = store.put('three', inPieces(randomBytes(70 * mebibyte)));
    await expect(large).rejects.toMatchObject({ code: 'storage_full' });
    expect(await store.get('three')).toBeUndefined();
  });
});
