import type { Redis } from 'ioredis';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { callRedis, callRedisAll } from '../redis/call-redis.ts';
import { RedisScript, removedPlacesScript } from '../redis/redis-script.ts';
import { readStored, type ReportUnreadable } from '../redis/stored-records.ts';
import { storedJson } from '../redis/stored-value.ts';

const createScript = (name: string, ...before: URL[]): RedisScript =>
  new RedisScript(...before, new URL('lua/files.lua', import.meta.url), new URL(`lua/${name}.lua`, import.meta.url));
const reserveRoom = createScript('reserve');
const keepFile = createScript('keep');
const abandonUpload = createScript('abandon');
const removeFile = createScript('remove', removedPlacesScript);
const listFiles = createScript('list', removedPlacesScript);
const takeRemovals = createScript('take-removals');

/** Maximum of files of one owner, however small they are. */
const maxOwnerFiles = 10_000;

/** Milliseconds after the last sign of life of an upload until it counts as dead. */
export const uploadLeaseMs = 120_000;

/** The part of all room that stays free for the results of work that has begun, and for the lines of cancelled and expired batches. */
const shareForResults = 1 / 16;

/** Milliseconds after the removal of an object was tried until it is tried again. */
const removeAgainMs = 60_000;

const recordSchema = z.object({
  id: z.string(),
  /** Name of the content in the object store. */
  object: z.string(),
  /** What the file was uploaded for, such as `batch`, or what made it, such as `batch_output`. */
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
 * What an upload is to become.
 *
 * - `file`: a file to which the bounds of its owner apply.
 * - `part`: results of finished work. Room is reserved for a part twice: for the part itself, and for the file into which the parts are
 *   joined.
 * - `join`: a file of joined parts. A join uses the room that was reserved with its parts, and counts for its owner once it is a file.
 */
export type UploadKind = 'file' | 'part' | 'join';

export interface Reservation {
  owner: string;
  object: string;
  /** Bytes in addition to those that are reserved already; 0 only shows that the upload goes on. */
  bytes: number;
  /** Whether this is the upload's first reservation. */
  begins: boolean;
  kind: UploadKind;
}

/** The owner of a new file no longer exists: a deleted team, or a revoked key. Clients get the error of an exceeded quota. */
export class OwnerGoneError extends RouterError {
  override name = 'OwnerGoneError';

  constructor() {
    super('storage_quota_exceeded', 'The owner of this key does not exist any more.');
  }
}

/**
 * The records of files in Redis, and the room that their owners use. A file of another owner counts as unknown. Every method throws
 * `store_unavailable`.
 *
 * The object of a file is in another store. The object is listed for removal from before its first byte is stored until it becomes a file,
 * and again after the file was removed. So no object is left behind when a process dies. An object that a batch holds stays, and counts for
 * its owner, until the batch releases it.
 */
export class FileRecords {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #bounds: FileBounds;
  /** Bytes of which the files of one owner may take half of what all others leave, so that a few owners cannot fill the store. */
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
   * @throws OwnerGoneError; RouterError `storage_quota_exceeded`, `storage_full`, or, if the upload counts as dead, `store_unavailable`
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
   * @throws RouterError `store_unavailable` also if the upload counts as dead, or its owner no longer exists
   */
  async keep(owner: string, record: FileRecord): Promise<void> {
    const args = { prefix: this.#prefix, owner, ...toFileArgs(record) };
    const reply = await keepFile.run(this.#redis, { args, texts: [JSON.stringify(record)] });
    if (reply !== 1) throw lapsedUploadError();
  }

  /**
   * Ends an upload that does not become a file.
   * @param isNoFile whether it is certain that the upload did not become a file
   * @returns false if there is no such upload, because it may have become a file
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
    const [more, ...texts] = reply.map(String);
    return { files: texts.flatMap((text) => this.#read(text) ?? []), hasMore: more === '1' };
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
   * Checks that there is room for results that are stored beyond the bounds of their owner. To be called before the work that makes these
   * results.
   * @throws RouterError `storage_quota_exceeded` if the owner's files have the maximum of bytes; `storage_full` if they take half of what
   * others leave, or if all files, together with the room that is reserved for joining results, leave only the room for the results of work
   * that has begun
   */
  async assertRoom(owner: string): Promise<void> {
    const { ownerBytes } = this.#bounds;
    const commands = this.#redis.pipeline().zscore(`${this.#prefix}file-bytes`, owner);
    commands.get(`${this.#prefix}file-total`).get(`${this.#prefix}file-joins`);
    const [bytes = 0, total = 0, joins = 0] = (await callRedisAll(commands)).map(Number);
    if (bytes >= ownerBytes)
      throw new RouterError(
        'storage_quota_exceeded',
        `Your files, with the results of batches that run, take the ${ownerBytes} bytes that they may: delete some.`,
      );
    if (bytes > 0 && bytes >= (this.#filesBytes - joins - total + bytes) / 2) throw shareError();
    if (total + joins >= this.#filesBytes) throw storageFullError();
  }

  /**
   * Removes a file.
   * @returns the file's object, which the caller removes; an empty text while a batch holds the object; undefined if the owner has no such
   * file
   */
  async delete(owner: string, id: string): Promise<string | undefined> {
    const object = await removeFile.run(this.#redis, { args: { prefix: this.#prefix, owner, id } });
    return typeof object === 'string' ? object : undefined;
  }

  /** Returns the bytes of all files and uploads. */
  async readTotalBytes(): Promise<number> {
    return Number(await callRedis(this.#redis.get(`${this.#prefix}file-total`)));
  }

  /** Returns objects that are to be removed. No other process gets them for a minute. */
  async takeRemovals(max: number): Promise<string[]> {
    const args = { prefix: this.#prefix, most: max, againMs: removeAgainMs };
    const objects = await takeRemovals.run(this.#redis, { args });
    return Array.isArray(objects) ? objects.map(String) : [];
  }

  /** Takes an object off the list of removals. To be called after the object was removed. */
  async noteRemoved(object: string): Promise<void> {
    await callRedis(this.#redis.zrem(`${this.#prefix}file-removals`, object));
  }

  #read(text: string): FileRecord | undefined {
    const read = readStored(storedJson(recordSchema), text);
    if ('value' in read) return read.value;
    this.#report('a file', read.reason);
    return undefined;
  }
}

/** Picks the fields of a record that the scripts need to make a file. */
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
