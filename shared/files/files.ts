import { randomBytes } from 'node:crypto';
import {
  uploadLeaseMs,
  type FilePage,
  type FilePageQuery,
  type FileRecord,
  type FileRecords,
  type FileUse,
} from '#shared/accounts/files/file-records.ts';
import type { Measured } from '#shared/core/byte-meter.ts';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { mintFileId } from './file-id.ts';
import { mimeTypeOf } from './mime-type-of.ts';
import type { ByteRange, ObjectStore } from './object-store.ts';
import { UploadMeter } from './upload-meter.ts';

/** The purpose of the files whose lines are requests. */
export const batchPurpose = 'batch';

/** Bytes that a form may have besides its file. */
const formBytes = 64 * 1024;

/** Objects that are removed in one go. */
const removedAtOnce = 100;

/** What a file is, besides its content. */
export interface FileDescription {
  purpose: string;
  name: string;
  /** The type that its sender names. */
  mimeType?: string | undefined;
  /** Milliseconds until it expires; undefined for never. */
  expiresAfterMs?: number | undefined;
}

export interface AddOptions {
  signal?: AbortSignal | undefined;
  /** Bytes of the file and of what it comes in, if they are known before. */
  expectedBytes?: number | undefined;
  /** Whether it is the result of work that is done: it counts, and is added beyond the bounds of its owner. */
  isResult?: boolean;
  /** Whether it joins results that were received so: it takes the room that is left for that, and counts once it is a file. */
  isJoin?: boolean;
}

/** Content that is stored, and is no file yet. It is removed within minutes unless it becomes one, or a batch holds it. */
export interface Upload {
  /** What it is called in the object store. */
  object: string;
  bytes: number;
  /** Makes a file of it. @throws RouterError `invalid_value` for more lines than a batch may have, `store_unavailable` */
  keep: (description: FileDescription) => Promise<FileRecord>;
  /** The record of the file that it is to become, for a script that makes the file together with something else. */
  describe: (description: FileDescription) => FileRecord;
  /** Counts it as stored, where such a script has made the file. */
  noteKept: () => void;
  /** Removes it, unless it has become a file or a batch holds it. Never rejects. */
  discard: () => Promise<void>;
}

/** An upload that is whole, and what its file is to be. */
interface ReceivedFile {
  meter: UploadMeter;
  measured: Measured;
  description: FileDescription;
}

export interface FilesParts {
  records: FileRecords;
  store: ObjectStore;
  /** Bytes of one file. */
  fileBytes: number;
  /** Lines of a file for a batch. */
  fileLines: number;
  /** Milliseconds for which files are kept at most; undefined for no bound. */
  keepMs?: number | undefined;
  log: Logger;
}

/** What becomes of uploads: `refused` for what is too large, or more than there is room for; `failed` where somebody went away. */
export const uploadOutcomes = ['stored', 'refused', 'failed'] as const;
export type UploadOutcome = (typeof uploadOutcomes)[number];

/** The files of owners: their records, their content, and the bounds of both. Nothing is held in memory whole. */
export class Files {
  readonly #parts: FilesParts;
  /** Uploads so far, by what became of them. */
  readonly uploads: Record<UploadOutcome, number> = { stored: 0, refused: 0, failed: 0 };
  /** Bytes of those that became files. */
  storedBytes = 0;

  constructor(parts: FilesParts) {
    this.#parts = parts;
  }

  /** Adds a file. @throws as `receive` and `Upload.keep` do */
  async add(
    owner: string,
    body: AsyncIterable<Uint8Array>,
    description: FileDescription,
    options: AddOptions = {},
  ): Promise<FileRecord> {
    const upload = await this.receive(owner, body, options);
    return upload.keep(description);
  }

  /**
   * Stores the content of a file of which the rest is not known yet. Its bytes count for the owner from the first one on.
   * @throws RouterError `body_too_large`, `storage_quota_exceeded`, `storage_full`, `store_unavailable`, or what the body throws, or the
   * reason of the signal. Nothing is left then
   */
  receive(owner: string, body: AsyncIterable<Uint8Array>, options: AddOptions = {}): Promise<Upload> {
    return this.#counted(this.#receive(owner, body, options));
  }

  /** Bytes of all files of the cluster, uploads included. */
  totalBytes(): Promise<number> {
    return this.#parts.records.totalBytes();
  }

  /** One file; undefined if the owner has none with this id. @throws RouterError `store_unavailable`, as do all below */
  find(owner: string, id: string): Promise<FileRecord | undefined> {
    return this.#parts.records.find(owner, id);
  }

  /** A page of the owner's files; undefined if it is to begin or end at an unknown one. */
  list(owner: string, query: FilePageQuery): Promise<FilePage | undefined> {
    return this.#parts.records.list(owner, query);
  }

  /** @throws RouterError `storage_quota_exceeded` or `storage_full` if there is no room for the results of further work */
  assertRoom(owner: string): Promise<void> {
    return this.#parts.records.assertRoom(owner);
  }

  /** What the owner's files take, and may take. */
  use(owner: string): Promise<FileUse> {
    return this.#parts.records.use(owner);
  }

  /** The content of a file, or a range of it within its bounds. Reading it throws as this does. */
  async read(
    { id, object, bytes }: FileRecord,
    range?: ByteRange,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const from = Math.min(range?.from ?? 0, bytes);
    const to = Math.min(range?.to ?? bytes, bytes);
    const content = await this.#parts.store.get(object, { from, to }, signal);
    if (content) return content;
    this.#parts.log.error({ file: id, object }, 'the content of a file is missing');
    throw new RouterError('store_unavailable', 'The content of the file is missing.');
  }

  /**
   * Removes a file, and its content as soon as the store answers and no batch holds it.
   * @returns whether the owner had it
   */
  async remove(owner: string, id: string): Promise<boolean> {
    const object = await this.#parts.records.remove(owner, id);
    if (object === undefined) return false;
    // The store may be away for long; the sweep removes what is left.
    if (object !== '') void this.#removeObject(object);
    return true;
  }

  /** Removes content that nobody holds any more. What the store does not remove now, the sweep does. */
  async removeReleased(objects: readonly string[]): Promise<void> {
    for (const object of objects) if (!(await this.#removeObject(object))) return;
  }

  /** Removes what has expired, and what deletions and uploads that ended early have left. Call it from time to time. */
  async sweep(): Promise<void> {
    const { records } = this.#parts;
    let objects = await records.takeRemovals(removedAtOnce);
    while (objects.length > 0) {
      for (const object of objects) await this.#removeObject(object);
      objects = objects.length < removedAtOnce ? [] : await records.takeRemovals(removedAtOnce);
    }
  }

  async #receive(
    owner: string,
    body: AsyncIterable<Uint8Array>,
    { signal, expectedBytes, isResult = false, isJoin = false }: AddOptions,
  ): Promise<Upload> {
    const { records, store, fileBytes } = this.#parts;
    const object = randomBytes(16).toString('hex');
    const kind = isJoin ? 'join' : isResult ? 'part' : 'file';
    const reserve = (bytes: number, begins: boolean): Promise<void> =>
      records.reserve({ owner, object, bytes, begins, kind });
    // What is refused is refused before it is sent, as far as its size is known.
    const known = Math.min(fileBytes, Math.max(0, (expectedBytes ?? 0) - formBytes));
    await reserve(known, true);
    const goesOn = setInterval(() => void reserve(0, false).catch(() => undefined), uploadLeaseMs / 4).unref();
    const meter = new UploadMeter({
      maxBytes: kind === 'file' ? fileBytes : Infinity,
      reserved: known,
      isSparing: kind !== 'file',
      reserve: (bytes) => reserve(bytes, false),
    });
    try {
      const measured = await store.put(object, meter.pass(body), signal);
      // One that counts as dead meanwhile was removed before it was whole.
      await reserve(0, false);
      return {
        object,
        bytes: measured.bytes,
        keep: (description) => this.#counted(this.#keep(owner, object, { meter, measured, description })),
        describe: (description) => this.#describe(object, { meter, measured, description }),
        noteKept: () => this.#noteKept(measured),
        discard: () => this.#discard(object),
      };
    } catch (error) {
      await this.#discard(object, true);
      throw error;
    } finally {
      clearInterval(goesOn);
    }
  }

  async #keep(owner: string, object: string, received: ReceivedFile): Promise<FileRecord> {
    const { records, fileLines } = this.#parts;
    const { purpose } = received.description;
    const { lines } = received.meter;
    if (purpose === batchPurpose && lines > fileLines) {
      await this.#discard(object);
      throw new RouterError('invalid_value', `The file has ${lines} lines: a batch may have ${fileLines}.`);
    }
    const record = this.#describe(object, received);
    await records.keep(owner, record);
    this.#noteKept(record);
    return record;
  }

  #describe(object: string, { meter, measured, description }: ReceivedFile): FileRecord {
    const { keepMs } = this.#parts;
    const { purpose, name, mimeType, expiresAfterMs } = description;
    const { lines, start } = meter;
    const createdAt = Date.now();
    const lifeMs = Math.min(expiresAfterMs ?? Infinity, keepMs ?? Infinity);
    const type = mimeTypeOf(name, mimeType, start);
    const facts = { id: mintFileId(), object, purpose, name, mimeType: type, ...measured, lines, createdAt };
    return lifeMs === Infinity ? facts : { ...facts, expiresAt: createdAt + lifeMs };
  }

  #noteKept({ bytes }: Pick<FileRecord, 'bytes'>): void {
    this.uploads.stored += 1;
    this.storedBytes += bytes;
  }

  /** Counts a step of an upload if it fails. */
  async #counted<T>(step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (error) {
      const isRefused =
        error instanceof RouterError && (errorTable[error.code].status < 500 || error.code === 'storage_full');
      this.uploads[isRefused ? 'refused' : 'failed'] += 1;
      throw error;
    }
  }

  /**
   * Gives back what an upload has reserved, and removes what it has stored.
   * @param isNoFile whether no file can have been made of it
   */
  async #discard(object: string, isNoFile = false): Promise<void> {
    try {
      if (await this.#parts.records.abandon(object, isNoFile)) await this.#removeObject(object);
    } catch {
      // Redis is away: the sweep does it when the upload counts as dead.
    }
  }

  /** @returns whether it is removed */
  async #removeObject(object: string): Promise<boolean> {
    const { records, store, log } = this.#parts;
    try {
      await store.delete(object);
      await records.removed(object);
      return true;
    } catch (error) {
      log.warn({ err: error, object }, 'the content of a file could not be removed, trying again');
      return false;
    }
  }
}
