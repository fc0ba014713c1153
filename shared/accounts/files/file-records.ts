import type { Redis } from 'ioredis';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { OwnedStore } from '#shared/store/owned-store/owned-store.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript, pagesScript } from '#shared/store/redis/redis-script.ts';
import { readStored, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';

export const fileStore = new OwnedStore(new URL('lua/files.lua', import.meta.url));

/** The scripts that keep records of files. They are prepended to each script that changes files together with something else. */
export const filesScripts = fileStore.scripts;

const createScript = (name: string, ...preludes: URL[]): RedisScript =>
  new RedisScript(...preludes, ...filesScripts, new URL(`lua/${name}.lua`, import.meta.url));
const reserveRoom = createScript('reserve');
const keepFile = createScript('keep');
const abandonUpload = createScript('abandon');
const removeFile = createScript('remove', pagesScript);
const listFiles = createScript('list', pagesScript);
const takeRemovals = createScript('take-removals');

/** Maximum of files of one owner, however small they are. */
const maxOwnerFiles = 10_000;

/** Milliseconds after the last reservation of an upload until the upload counts as dead. */
export const uploadLeaseMs = 120_000;

/** The part of all room that is set aside for the results of work that has begun, and for the lines of cancelled and expired batches. */
const shareForResults = 1 / 16;

/** Minimum milliseconds between two tries to remove an object. */
const removeAgainMs = 60_000;

const recordSchema = z.object({
  id: z.string(),
  /** Name of the content in the object store. */
  object: z.string(),
  /** The purpose of an uploaded file, such as `batch`, or the origin of a file that the router made, such as `batch_output`. */
  purpose: z.string(),
  name: z.string(),
  mimeType: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  lines: z.number(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
});

export type FileRecord = z.output<typeof recordSchema>;

export interface FileBounds {
  /** Maximum bytes of the files and uploads of one owner. */
  ownerBytes: number;
  /** Maximum bytes of the files and uploads of all owners together. */
  totalBytes: number;
}

export interface FilePage {
  files: FileRecord[];
  /** Whether more files follow in the requested direction. */
  hasMore: boolean;
}

export interface FileUse {
  /** Bytes of the owner's files and uploads. */
  bytes: number;
  maxBytes: number;
  files: number;
  maxFiles: number;
}

export interface FilePageQuery {
  purpose?: string | undefined;
  newestFirst: boolean;
  /** Id of the file after which the page begins. */
  after?: string | undefined;
  /** Id of the file before which the page ends. */
  before?: string | undefined;
  limit: number;
}

/**
 * What becomes of an upload.
 *
 * - `file`: a file. The bounds of its owner apply.
 * - `part`: results of finished work. Room is reserved twice: for the part itself, and for the file into which the parts are joined.
 * - `join`: a file of joined parts. It uses the room that was reserved with its parts. It counts for its owner once it is a file.
 */
export type UploadKind = 'file' | 'part' | 'join';

export interface Reservation {
  owner: string;
  object: string;
  /** Bytes to reserve in addition to the earlier reservations. With 0, the reservation only shows that the upload goes on. */
  bytes: number;
  /** Whether this is the upload's first reservation. */
  begins: boolean;
  kind: UploadKind;
}

/** Thrown if the owner of a new file no longer exists: a deleted team, or a revoked key. Clients get the error of an exceeded quota. */
export class OwnerGoneError extends RouterError {
  override name = 'OwnerGoneError';

  constructor() {
    super('storage_quota_exceeded', 'The owner of this key does not exist any more.');
  }
}

/**
 * The records of files in Redis, and the room that their owners use. A file of another owner counts as unknown. Every method throws
 * `store_unavailable` while Redis is unavailable.
 *
 * The content of a file is an object in another store. An object is on the list of removals before its first byte is stored. It leaves the
 * list when it becomes a file, and is listed again when the file is removed. So no object is left behind when a process dies. An object
 * that a batch holds stays, and counts for its owner, until the batch releases it.
 */
export class FileRecords {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #bounds: FileBounds;
  /** Bytes for files. One owner may take at most half of what all others leave of them, so that a few owners cannot fill the store. */
  readonly #filesBytes: number;
  readonly #report: ReportUnreadable;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, { bounds, report }: { bounds: FileBounds; report: ReportUnreadable }) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#filesBytes = Math.floor(bounds.totalBytes * (1 - shareForResults));
    this.#bounds = { ...bounds, ownerBytes: Math.min(bounds.ownerBytes, Math.floor(this.#filesBytes / 2)) };
    this.#report = report;
  }

  /**
   * Reserves room for an upload.
   * @throws OwnerGoneError; RouterError `storage_quota_exceeded` or `storage_full`; also `store_unavailable` if the upload counts as dead
   */
  async reserve({ owner, object, bytes, begins, kind }: Reservation): Promise<void> {
    const { ownerBytes, totalBytes } = this.#bounds;
    const bounds = { ownerBytes, ownerFiles: maxOwnerFiles, totalBytes, leaseMs: uploadLeaseMs };
    const args = { prefix: this.#prefix, owner, object, bytes, begins, kind, ...bounds, filesBytes: this.#filesBytes };
    const outcome = await reserveRoom.run(this.#redis, { args });
    if (outcome === 'reserved') return;
    if (outcome === 'total') throw storageFullError();
    if (outcome === 'share') throw shareError();
    if (outcome === 'lapsed') throw lapsedUploadError();
    throw quotaError(outcome, ownerBytes);
  }

  /**
   * Turns a complete upload into a file.
   * @throws RouterError `store_unavailable`, also if the upload counts as dead, or if its owner no longer exists
   */
  async keep(owner: string, record: FileRecord): Promise<void> {
    const args = { prefix: this.#prefix, owner, ...toFileArgs(record) };
    const reply = await keepFile.run(this.#redis, { args, texts: [JSON.stringify(record)] });
    if (reply !== 1) throw lapsedUploadError();
  }

  /**
   * Ends an upload that does not become a file.
   * @param isNoFile whether the upload has certainly not become a file
   * @returns false if there is no such upload; it may have become a file
   */
  async abandon(object: string, isNoFile = false): Promise<boolean> {
    return (await abandonUpload.run(this.#redis, { args: { prefix: this.#prefix, object, isNoFile } })) === 1;
  }

  async find(owner: string, id: string): Promise<FileRecord | undefined> {
    const text = await callRedis(this.#redis.hget(`${this.#prefix}files-of:${owner}`, id));
    const record = text === null ? undefined : this.#read(text);
    return record?.expiresAt !== undefined && record.expiresAt <= Date.now() ? undefined : record;
  }

  /** Returns a page of the owner's files; undefined if `after` or `before` is unknown. */
  async list(owner: string, query: FilePageQuery): Promise<FilePage | undefined> {
    const reply = await listFiles.run(this.#redis, { args: { prefix: this.#prefix, owner, ...query } });
    if (!Array.isArray(reply)) return undefined;
    const [hasMore, ...texts] = reply.map(String);
    return { files: texts.flatMap((text) => this.#read(text) ?? []), hasMore: hasMore === '1' };
  }

  async readUse(owner: string): Promise<FileUse> {
    const commands = this.#redis.pipeline().zscore(`${this.#prefix}file-bytes`, owner);
    const [bytes, files] = await callRedisAll(commands.zcard(`${this.#prefix}files-by-age:${owner}`));
    return {
      bytes: Number(bytes ?? 0),
      maxBytes: this.#bounds.ownerBytes,
      files: Number(files),
      maxFiles: maxOwnerFiles,
    };
  }

  /**
   * Checks that there is room for further results. To be called before the work that makes the results, because the bounds of their owner
   * do not apply when the results are stored.
   * @throws RouterError `storage_quota_exceeded` if the owner's files have the maximum of bytes; `storage_full` if they take half of what
   * others leave, or if only the room that is set aside for work that has begun is left
   */
  async assertRoom(owner: string): Promise<void> {
    const { ownerBytes } = this.#bounds;
    const commands = this.#redis.pipeline().zscore(`${this.#prefix}file-bytes`, owner);
    commands.get(`${this.#prefix}file-total`).get(`${this.#prefix}file-joins`);
    const [bytes = 0, total = 0, joins = 0] = (await callRedisAll(commands)).map(Number);
    if (bytes >= ownerBytes)
      throw new RouterError(
        'storage_quota_exceeded',
        `Your files and the results of running batches take all of your ${ownerBytes} bytes: delete some files.`,
      );
    if (bytes > 0 && bytes >= (this.#filesBytes - joins - total + bytes) / 2) throw shareError();
    if (total + joins >= this.#filesBytes) throw storageFullError();
  }

  /**
   * Removes the record of a file.
   * @returns the file's object, which the caller must remove; an empty text while a batch holds the object; undefined if the owner has no
   * such file
   */
  async delete(owner: string, id: string): Promise<string | undefined> {
    const object = await removeFile.run(this.#redis, { args: { prefix: this.#prefix, owner, id } });
    return typeof object === 'string' ? object : undefined;
  }

  /** Returns the bytes of all files and uploads. */
  async readTotalBytes(): Promise<number> {
    return Number(await callRedis(this.#redis.get(`${this.#prefix}file-total`)));
  }

  /** Returns objects for their removal. No other process gets the same objects for a minute. */
  async takeRemovals(max: number): Promise<string[]> {
    const args = { prefix: this.#prefix, maxObjects: max, againMs: removeAgainMs };
    const objects = await takeRemovals.run(this.#redis, { args });
    return Array.isArray(objects) ? objects.map(String) : [];
  }

  /** Takes an object off the list of removals, after the object was removed. */
  async noteRemoved(object: string): Promise<void> {
    await callRedis(this.#redis.zrem(`${this.#prefix}file-removals`, object));
  }

  #read(text: string): FileRecord | undefined {
    const read = readStored(createStoredSchema(recordSchema), text);
    if ('value' in read) return read.value;
    this.#report('a file', read.reason);
    return undefined;
  }
}

/** Picks the fields of a record that scripts need to turn an upload into a file. */
export function toFileArgs({ object, id, purpose, bytes, expiresAt }: FileRecord) {
  return { object, id, purpose, bytes, expiresAt };
}

function quotaError(outcome: unknown, ownerBytes: number): RouterError {
  switch (outcome) {
    case 'files':
      return new RouterError(
        'storage_quota_exceeded',
        `You have ${maxOwnerFiles} files, which is the most: delete some.`,
      );
    case 'owner':
      return new RouterError(
        'storage_quota_exceeded',
        `Your files would take more than ${ownerBytes} bytes together: delete some, or upload a smaller one.`,
      );
    default:
      return new OwnerGoneError();
  }
}

function storageFullError(): RouterError {
  return new RouterError('storage_full', 'The storage for files is full.');
}

function shareError(): RouterError {
  const message =
    'The storage for files is nearly full: yours may take half of what the files of others leave. Delete some, or upload a smaller one.';
  return new RouterError('storage_full', message);
}

function lapsedUploadError(): RouterError {
  return new RouterError('store_unavailable', 'The upload was interrupted for too long. Please try again.', {
    retryAfter: 1,
  });
}
