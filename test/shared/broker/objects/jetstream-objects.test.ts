import { createHash, randomBytes } from 'node:crypto';
import { jetstreamManager, StorageType } from '@nats-io/jetstream';
import { describe, expect, it, vi } from 'vitest';
import { JetStreamObjects } from '#shared/broker/objects/jetstream-objects.ts';
import { allOf, failingAfter, inPieces } from '../../../helpers/files/bytes.ts';
import { openObjects } from '../../../helpers/files/open-objects.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { startNats } from '../../../helpers/servers/start-nats.ts';
import { until } from '../../../helpers/until.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const mebibyte = 1024 * 1024;

describe('objects in JetStream', () => {
  it('are read as they were stored, completely and in ranges, and deleted', async () => {
    const { store, parts } = await openObjects();
    const bytes = randomBytes(2 * mebibyte + 12_345);
    const measured = await store.put('one', inPieces(bytes));
    expect(measured).toEqual({ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect((await allOf(await store.get('one')))?.equals(bytes)).toBe(true);
    const chunk = 256 * 1024;
    const ranges: [number, number | undefined][] = [
      [0, 1],
      [chunk - 1, chunk + 1],
      [chunk, 2 * chunk],
      [5, undefined],
      [bytes.length - 3, bytes.length],
      [bytes.length, undefined],
      [bytes.length - 1, bytes.length + 100],
    ];
    for (const [from, to] of ranges) {
      const read = await allOf(await store.get('one', { from, ...(to !== undefined && { to }) }));
      expect(read?.equals(bytes.subarray(from, to)), `${from} to ${to}`).toBe(true);
    }
    await store.delete('one');
    expect(await store.get('one')).toBeUndefined();
    expect(await parts()).toBe(0);
    await store.delete('one');
  });

  it('may be empty, and are undefined if they do not exist', async () => {
    const { store } = await openObjects();
    expect(await store.get('none')).toBeUndefined();
    expect(await store.put('empty', inPieces(Buffer.alloc(0)))).toMatchObject({ bytes: 0 });
    expect(await allOf(await store.get('empty'))).toEqual(Buffer.alloc(0));
    for (const name of ['', 'a.b', 'a b', '*', '>', 'a/b', 'x'.repeat(129)])
      await expect(store.put(name, inPieces(Buffer.alloc(1))), name).rejects.toThrow('cannot be named');
  });

  it('are read by many at a time, with a bounded number of parts on their way', async () => {
    const { store, broker } = await openObjects();
    const bytes = randomBytes(2 * mebibyte);
    await store.put('wanted', inPieces(bytes));
    const request = broker.nc.request.bind(broker.nc);
    let [running, most] = [0, 0];
    vi.spyOn(broker.nc, 'request').mockImplementation(async (...args) => {
      most = Math.max(most, (running += 1));
      return request(...args).finally(() => (running -= 1));
    });
    const read = await Promise.all(Array.from({ length: 30 }, async () => allOf(await store.get('wanted'))));
    for (const each of read) expect(each?.equals(bytes)).toBe(true);
    expect(most).toBe(16);
  });

  it('leave nothing if their body fails, and become visible when they are complete', async () => {
    const { store, parts } = await openObjects();
    const failure = new Error('the client has gone');
    await expect(store.put('half', failingAfter(mebibyte, failure))).rejects.toBe(failure);
    expect(await store.get('half')).toBeUndefined();
    expect(await parts()).toBe(0);
    const held = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield* inPieces(randomBytes(mebibyte));
      await held.promise;
    }
    const storing = store.put('slow', slow());
    expect(await store.get('slow')).toBeUndefined();
    held.resolve();
    await storing;
    expect((await allOf(await store.get('slow')))?.length).toBe(mebibyte);
  });

  it('leave nothing if they are aborted', async () => {
    const { store, parts } = await openObjects();
    const abort = new AbortController();
    async function* called(): AsyncGenerator<Uint8Array> {
      yield* inPieces(randomBytes(mebibyte));
      abort.abort(new Error('called off'));
      yield* inPieces(randomBytes(mebibyte));
    }
    await expect(store.put('off', called(), abort.signal)).rejects.toThrow('called off');
    expect(await parts()).toBe(0);
  });

  it('that do not fit are refused with storage_full, and leave their room to others', async () => {
    const { store, parts } = await openObjects({ maxBytes: 2 * mebibyte });
    await store.put('first', inPieces(randomBytes(mebibyte)));
    const before = await parts();
    const second = store.put('second', inPieces(randomBytes(3 * mebibyte)));
    await expect(second).rejects.toMatchObject({ code: 'storage_full' });
    expect(await store.get('second')).toBeUndefined();
    expect(await parts()).toBe(before);
    expect((await store.put('third', inPieces(randomBytes(mebibyte / 2)))).bytes).toBe(mebibyte / 2);
  });

  it('are stored again after their stream was deleted; an object that loses its first parts that way is refused', async () => {
    const { store, deleteStream } = await openObjects({ retryForMs: 1_000 });
    await store.put('gone', inPieces(randomBytes(100)));
    await deleteStream();
    expect(await store.get('gone')).toBeUndefined();
    async function* interrupted(): AsyncGenerator<Uint8Array> {
      yield* inPieces(randomBytes(2 * mebibyte));
      await deleteStream();
      yield* inPieces(randomBytes(2 * mebibyte));
    }
    await expect(store.put('torn', interrupted())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await store.get('torn')).toBeUndefined();
    await store.put('next', inPieces(randomBytes(100)));
    expect((await allOf(await store.get('next')))?.length).toBe(100);
  });

  it('are stored and read after the server, or the stream, has begun anew', async () => {
    const nats = stopAfterTest(await startNats());
    const { store, broker, deleteStream } = await openObjects({ natsUrl: nats.url });
    await store.put('first', inPieces(randomBytes(100)));
    for (const beginAnew of [() => nats.kill().then(() => nats.restart()), deleteStream]) {
      await beginAnew();
      await until(() => broker.connected);
      await store.put('second', inPieces(randomBytes(200)));
      expect((await allOf(await store.get('second')))?.length).toBe(200);
    }
  });

  it('are found by a later process with the same store size, even if NATS has no room left', async () => {
    const nats = stopAfterTest(await startNats());
    const { store, broker, room } = await openObjects({ natsUrl: nats.url });
    await store.put('first', inPieces(randomBytes(100)));
    const before = await room();
    const { streams } = await jetstreamManager(broker.nc);
    // Less than half of the store's size is left.
    for (let bytes = 2 ** 50; bytes >= 16 * mebibyte; bytes /= 2) {
      const config = { storage: StorageType.File, max_bytes: bytes };
      await streams.add({ name: `filler-${bytes}`, subjects: [`filler.${bytes}`], ...config }).catch(() => undefined);
    }
    const later = new JetStreamObjects(broker, before, silentLog);
    expect((await allOf(await later.get('first')))?.length).toBe(100);
    expect(await room()).toBe(before);
  });
});
