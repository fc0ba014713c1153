import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { S3ObjectStore } from '#shared/files/s3-object-store.ts';
import { allOf, failingAfter, inPieces } from '../../helpers/files/bytes.ts';
import { startS3 } from '../../helpers/servers/start-s3.ts';
import { useStarted } from '../../helpers/use-started.ts';

const mebibyte = 1024 * 1024;
const s3 = useStarted(() => startS3());
let store: S3ObjectStore;
beforeAll(() => void (store = new S3ObjectStore(s3.access)));
afterAll(() => store.close());

it('objects in S3 of one part or several are read as they were stored, whole and in ranges, and removed', async () => {
  for (const size of [100, 20 * mebibyte + 7]) {
    const bytes = randomBytes(size);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await store.put('one', inPieces(bytes))).toEqual({ bytes: size, sha256 });
    expect((await allOf(await store.get('one')))?.equals(bytes)).toBe(true);
    const ranges: [number, number?][] = [[0, 2], [7, 93], [size - 5, size], [50]];
    for (const [from, to] of ranges) {
      const read = await allOf(await store.get('one', { from, to }));
      expect(read?.equals(bytes.subarray(from, to)), `${from} to ${to}`).toBe(true);
    }
    expect(await allOf(await store.get('one', { from: size }))).toEqual(Buffer.alloc(0));
    await store.delete('one');
    expect(await store.get('one')).toBeUndefined();
    await store.delete('one');
  }
});

it('objects in S3 may be empty, and are unknown where there is none', async () => {
  expect(await store.get('none')).toBeUndefined();
  expect(await store.put('empty', inPieces(Buffer.alloc(0)))).toMatchObject({ bytes: 0 });
  expect(await allOf(await store.get('empty'))).toEqual(Buffer.alloc(0));
});

it('objects in S3 are not stored when their body fails or the upload is aborted, before or after the first part', async () => {
  const failure = new Error('the client has gone');
  for (const size of [1_000, 12 * mebibyte]) {
    await expect(store.put('half', failingAfter(size, failure))).rejects.toBe(failure);
    expect(await store.get('half')).toBeUndefined();
  }
  const abort = new AbortController();
  async function* called(): AsyncGenerator<Uint8Array> {
    yield* inPieces(randomBytes(12 * mebibyte));
    abort.abort(new Error('called off'));
    yield* inPieces(randomBytes(12 * mebibyte));
  }
  await expect(store.put('off', called(), abort.signal)).rejects.toThrow('called off');
  expect(await store.get('off')).toBeUndefined();
});

it('objects in S3 answer `store_unavailable` while the store is away', async () => {
  const other = await startS3();
  const away = new S3ObjectStore(other.access);
  await other.stop();
  const asks = [() => away.put('one', inPieces(randomBytes(10))), () => away.get('one'), () => away.delete('one')];
  for (const ask of asks) await expect(ask()).rejects.toMatchObject({ code: 'store_unavailable' });
  away.close();
});
