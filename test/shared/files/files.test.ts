import { createHash, randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FileRecords, type FileBounds } from '#shared/accounts/files/file-records.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { fileSettings } from '#shared/files/file-settings.ts';
import { Files, type FilesDependencies } from '#shared/files/files.ts';
import { openFiles } from '#shared/files/open-files.ts';
import { registerFileMetrics } from '#shared/files/watch-files.ts';
import { silentLog as log } from '../../helpers/silent-log.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { allOf, failingAfter, inPieces } from '../../helpers/files/bytes.ts';
import { openObjects, type OpenObjects } from '../../helpers/files/open-objects.ts';
import { startNats } from '../../helpers/servers/start-nats.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { errorWith } from '../../helpers/error-with.ts';

const mebibyte = 1024 * 1024;
const textFile = { purpose: 'user_data', name: 'a.txt' };

async function open(parts: Partial<FilesDependencies> & { ownerBytes?: number; objects?: OpenObjects } = {}) {
  const { redis, prefix, noteUnreadable: report } = await openKeyStore();
  const { ownerBytes = 100 * mebibyte, objects = await openObjects(), ...own } = parts;
  const bounds = { ownerBytes, totalBytes: 1_000 * mebibyte };
  const records = new FileRecords(redis, prefix, { bounds, report });
  const { store } = objects;
  const files = new Files({ records, store, fileBytes: 20 * mebibyte, fileLines: 10, log, ...own });
  const counted = async (): Promise<number> => Number(await redis.get(`${prefix}file-total`));
  const endLease = async (): Promise<void> => {
    const removals = `${prefix}file-removals`;
    for (const object of await redis.zrange(removals, '0', '-1')) await redis.zadd(removals, 1, object);
  };
  const add = (body: AsyncIterable<Uint8Array>, options = {}) => files.add('ada', body, textFile, options);
  return { files, add, records, ...objects, counted, endLease };
}

describe('files', () => {
  it('are added, read in ranges and removed, record and content', async () => {
    const { add, files, parts, counted } = await open();
    const bytes = randomBytes(9 * mebibyte + 5);
    const file = await add(inPieces(bytes));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(file).toMatchObject({ ...textFile, bytes: bytes.length, sha256, mimeType: 'text/plain' });
    expect(file.id).toMatch(/^rtr[0-9a-f]{24}$/);
    expect(await files.find('ada', file.id)).toEqual(file);
    expect((await allOf(await files.read(file)))?.equals(bytes)).toBe(true);
    const range = await allOf(await files.read(file, { from: 5 * mebibyte, to: 5 * mebibyte + 10 }));
    expect(range?.equals(bytes.subarray(5 * mebibyte, 5 * mebibyte + 10))).toBe(true);
    expect(await counted()).toBe(bytes.length);
    expect(await files.delete('bob', file.id)).toBe(false);
    expect(await files.delete('ada', file.id)).toBe(true);
    expect(await files.find('ada', file.id)).toBeUndefined();
    await until(async () => (await parts()) === 0);
    expect(await counted()).toBe(0);
  });

  it('of one owner take half of the store at most, whatever the setting says', async () => {
    const { redis, prefix, noteUnreadable: report } = await openKeyStore();
    const { store: objects } = await openObjects();
    const settings = loadConfig(z.object(fileSettings), { FILES_MAX_BYTES: String(64 * mebibyte) });
    const openRecords = (bounds: FileBounds) => new FileRecords(redis, prefix, { bounds, report });
    const { files } = await openFiles({ settings, prefix, openRecords, objects, secrets: undefined, log });
    const add = (owner: string, size: number) => files.add(owner, inPieces(Buffer.alloc(size)), textFile, {});
    await add('ada', 30 * mebibyte);
    await expect(add('ada', 3 * mebibyte)).rejects.toMatchObject({ code: 'storage_quota_exceeded' });
    expect(await add('bob', 3 * mebibyte)).toMatchObject({ bytes: 3 * mebibyte });
  });

  it('have the type by which they begin, else the named one, else that of their name', async () => {
    const { files } = await open();
    for (const [text, name, mimeType, type] of [
      ['%PDF-1.7 …', 'a.txt', 'text/plain', 'application/pdf'],
      ['\x89PNG\r\n\x1a\n…', 'a', undefined, 'image/png'],
      ['{}', 'a.jsonl', 'application/octet-stream', 'application/jsonl'],
      ['a,b', 'a', 'Text/CSV; charset=utf-8', 'text/csv'],
      ['?', 'a.unknown', undefined, 'application/octet-stream'],
      ['', 'empty.md', undefined, 'text/markdown'],
    ] as const) {
      const body = inPieces(Buffer.from(text, 'latin1'));
      expect((await files.add('ada', body, { ...textFile, name, mimeType })).mimeType).toBe(type);
    }
  });

  it('for a batch have a maximum of lines, the last of which need not end with a line feed', async () => {
    const { files, parts, counted } = await open({ fileLines: 3 });
    const batch = { purpose: 'batch', name: 'in.jsonl' };
    const add = (text: string) => files.add('ada', inPieces(Buffer.from(text), 2), batch);
    for (const text of ['{}\n{}\n{}\n', '{}\n{}\n{}']) expect((await add(text)).lines).toBe(3);
    const before = [await parts(), await counted()];
    await expect(add('{}\n{}\n{}\n{')).rejects.toMatchObject({ code: 'invalid_value' });
    expect([await parts(), await counted()]).toEqual(before);
    const other = await files.add('ada', inPieces(Buffer.from('\n\n\n\n\n')), textFile);
    expect(other.lines).toBe(5);
  });

  it('that are too large, or fail, or do not fit leave nothing, whatever was stored of them', async () => {
    const { add, parts, counted } = await open({ fileBytes: 3 * mebibyte, ownerBytes: 4 * mebibyte });
    const failure = new Error('the client has gone');
    await expect(add(inPieces(randomBytes(3 * mebibyte + 1)))).rejects.toMatchObject({ code: 'body_too_large' });
    await expect(add(failingAfter(2 * mebibyte, failure))).rejects.toBe(failure);
    const kept = await add(inPieces(randomBytes(2 * mebibyte)));
    await expect(add(inPieces(randomBytes(2 * mebibyte + 1)))).rejects.toEqual(errorWith('storage_quota_exceeded'));
    // An upload that announces its size is refused before its first byte.
    const unread = failingAfter(0, failure);
    await expect(add(unread, { expectedBytes: 3 * mebibyte })).rejects.toEqual(errorWith('storage_quota_exceeded'));
    expect(await counted()).toBe(kept.bytes);
    expect(await parts()).toBe(2 * 4 + 1);
    // All of what is left can be used.
    await add(inPieces(randomBytes(2 * mebibyte)));
    expect(await counted()).toBe(4 * mebibyte);
  });

  it('are counted for the metrics: those stored with their bytes, those refused, those that failed', async () => {
    const { add, files } = await open({ ownerBytes: 5 * mebibyte, fileBytes: 3 * mebibyte });
    const registry = new Registry();
    registerFileMetrics(registry, files);
    await add(inPieces(randomBytes(2 * mebibyte)));
    await expect(add(inPieces(randomBytes(4 * mebibyte)))).rejects.toMatchObject({ code: 'body_too_large' });
    await add(inPieces(randomBytes(2 * mebibyte)));
    await expect(add(inPieces(randomBytes(2 * mebibyte)))).rejects.toMatchObject({ code: 'storage_quota_exceeded' });
    await expect(add(failingAfter(100, new Error('the sender left')))).rejects.toThrow('the sender left');
    const lines = (await registry.metrics()).split('\n');
    const uploads = [`stored"} 2`, `refused"} 2`, `failed"} 1`].map((end) => `rtr_file_uploads_total{outcome="${end}`);
    const sums = ['rtr_file_uploaded_bytes_total', 'rtr_files_bytes'].map((name) => `${name} ${4 * mebibyte}`);
    expect(lines).toEqual(expect.arrayContaining([...uploads, ...sums]));
  });

  it('of results reserve little more than they have, so that the rest of the quota stays free', async () => {
    const { files } = await open({ ownerBytes: mebibyte });
    const goOn = Promise.withResolvers<void>();
    const arrived = Array.from({ length: 8 }, () => Promise.withResolvers<void>());
    async function* slow(at: number): AsyncGenerator<Uint8Array> {
      yield* inPieces(randomBytes(58_000), 1_000);
      arrived[at]?.resolve();
      await goOn.promise;
    }
    const receiving = arrived.map((_, at) => files.receive('ada', slow(at), { isResult: true }));
    await Promise.all(arrived.map(({ promise }) => promise));
    expect((await files.use('ada')).bytes).toBeLessThan(8 * 74_000);
    await files.assertRoom('ada');
    goOn.resolve();
    for (const { discard } of await Promise.all(receiving)) await discard();
  });

  it('that are stored for so long that they count as dead leave nothing', async () => {
    const { files, parts, counted, endLease } = await open();
    const arrived = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    async function* stalled(): AsyncGenerator<Uint8Array> {
      yield randomBytes(1_000);
      arrived.resolve();
      await goOn.promise;
      yield randomBytes(1_000);
    }
    const receiving = files.receive('ada', stalled());
    receiving.catch(() => undefined);
    await arrived.promise;
    await endLease();
    await files.sweep();
    goOn.resolve();
    await expect(receiving).rejects.toMatchObject({ code: 'store_unavailable' });
    expect([await parts(), await counted()]).toEqual([0, 0]);
  });

  it('are swept if their upload never became a file, or if they have expired', async () => {
    const { files, parts, counted, endLease } = await open();
    await files.receive('ada', inPieces(randomBytes(mebibyte)));
    const expiring = { ...textFile, expiresAfterMs: 50 };
    const { id } = await files.add('ada', inPieces(randomBytes(mebibyte)), expiring);
    expect(await parts()).toBe(10);
    await until(async () => (await files.find('ada', id)) === undefined);
    await files.sweep();
    expect(await parts()).toBe(5);
    await endLease();
    await files.sweep();
    expect([await parts(), await counted()]).toEqual([0, 0]);
  });

  it('are kept for as long as the operator allows, at most', async () => {
    const { files } = await open({ keepMs: 1_000 });
    const lifeOf = async (expiresAfterMs?: number): Promise<number> => {
      const file = await files.add('ada', inPieces(Buffer.from('x')), { ...textFile, expiresAfterMs });
      return (file.expiresAt ?? 0) - file.createdAt;
    };
    expect([await lifeOf(), await lifeOf(5_000), await lifeOf(500)]).toEqual([1_000, 1_000, 500]);
  });

  it('that are removed while the store is away are gone at once, and their content when it is back', async () => {
    const nats = stopAfterTest(await startNats());
    const objects = await openObjects({ natsUrl: nats.url, retryForMs: 300 });
    const { add, files, broker, parts, endLease } = await open({ objects });
    const file = await add(inPieces(randomBytes(mebibyte)));
    await nats.kill();
    expect(await files.delete('ada', file.id)).toBe(true);
    expect(await files.find('ada', file.id)).toBeUndefined();
    await expect(add(inPieces(randomBytes(10)))).rejects.toEqual(errorWith('store_unavailable'));
    await nats.restart();
    await until(() => broker.connected);
    await until(async () => expect(await parts()).toBeGreaterThan(0));
    await until(async () => {
      await endLease();
      await files.sweep();
      expect(await parts()).toBe(0);
    });
  });
});
