import { randomBytes } from 'node:crypto';
import {
  uploadLeaseMs,
  type FilePage,
  type FilePageQuery,
  type FileRecord,
  type FileRecords,
  type FileUse,
} from '#shared/accounts/files/file-records.ts';
import type { ByteDigest } from '#shared/core/byte-meter.ts';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { createFileId } from './file-id.ts';
import { detectMimeType } from './detect-mime-type.ts';
import type { ByteRange, ObjectStore } from './object-store.ts';
import { UploadMeter } from './upload-meter.ts';

/** The purpose of files whose lines are requests of a batch. */
export const batchPurpose = 'batch';

/** Maximum bytes of a form without its file. */
const maxFormBytes = 64 * 1024;

const removalsAtOnce = 100;

export interface FileDescription {
  purpose: string;
  name: string;
  /** The media type that the sender declares. */
  mimeType?: string | undefined;
  /** Milliseconds from now until the file expires; undefined if it does not expire. */
  expiresAfterMs?: number | undefined;
}

export interface AddOptions {
  signal?: AbortSignal | undefined;
  /** Bytes of the file and of the form around it, if they are known in advance. */
  expectedBytes?: number | undefined;
  /** Whether the content is a result of finished work. A result counts for its owner, but may exceed the owner's bounds. */
  isResult?: boolean;
  /**
   * Whether the content consists of joined results. It uses the room that was reserved with these results, and counts for its owner once it
   * is a file.
   */
  isJoin?: boolean;
}

/** Stored content that is not a file yet. It is removed after some minutes if it has not become a file and no batch holds it. */
export interface Upload {
  object: string;
  bytes: number;
  /**
   * Turns the upload into a file.
   * @throws RouterError `invalid_value` for more lines than a batch may have; `store_unavailable`
   */
  keep: (description: FileDescription) => Promise<FileRecord>;
  /** Returns the record of the future file, for a script that makes the file together with something else. */
  describe: (description: FileDescription) => FileRecord;
  /** Counts the upload as stored. To be called after a script has made the file. */
  countStored: () => void;
  /** Removes the content, unless it has become a file or a batch holds it. Never rejects. */
  discard: () => Promise<void>;
}

interface ReceivedFile {
  meter: UploadMeter;
  measured: ByteDigest;
  description: FileDescription;
}

export interface FilesDependencies {
  records: FileRecords;
  store: ObjectStore;
  fileBytes: number;
  /** Maximum lines of a file for a batch. */
  fileLines: number;
  /** Maximum milliseconds for which files are kept; undefined if there is no maximum. */
  keepMs?: number | undefined;
  log: Logger;
}

/** The outcomes of uploads. `refused`: the content is too large, or there is no room for it. `failed`: the sender or a component failed. */
export const uploadOutcomes = ['stored', 'refused', 'failed'] as const;
export type UploadOutcome = (typeof uploadOutcomes)[number];

/** The files of owners: records and content, and their bounds. No content is ever in memory as a whole. */
export class Files {
  readonly #dependencies: FilesDependencies;
  readonly uploads: Record<UploadOutcome, number> = { stored: 0, refused: 0, failed: 0 };
  /** Bytes of all uploads that have become files. */
  storedBytes = 0;

  constructor(dependencies: FilesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Receives a body and makes a file of it.
   * @throws as `receive` and `Upload.keep` do
   */
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
   * Stores the content of a file before its description is complete. The bytes count for the owner from the first byte on. If this method
   * throws, the content is removed.
   * @throws RouterError `body_too_large`, `storage_quota_exceeded`, `storage_full` or `store_unavailable`; the error of the body; the
   * reason of the signal
   */
  receive(owner: string, body: AsyncIterable<Uint8Array>, options: AddOptions = {}): Promise<Upload> {
    return this.#countFailure(this.#receive(owner, body, options));
  }

  totalBytes(): Promise<number> {
    return this.#dependencies.records.readTotalBytes();
  }

  /**
   * Returns one file; undefined if the owner has none with this id.
   * @throws RouterError `store_unavailable`, as do all methods below
   */
  find(owner: string, id: string): Promise<FileRecord | undefined> {
    return this.#dependencies.records.find(owner, id);
  }

  /** Returns a page of the owner's files; undefined if `after` or `before` is unknown. */
  list(owner: string, query: FilePageQuery): Promise<FilePage | undefined> {
    return this.#dependencies.records.list(owner, query);
  }

  /** @throws RouterError `storage_quota_exceeded` or `storage_full` if there is no room for the results of further work */
  assertRoom(owner: string): Promise<void> {
    return this.#dependencies.records.assertRoom(owner);
  }

  /** Returns the room that the owner's files use, and the maximum room. */
  use(owner: string): Promise<FileUse> {
    return this.#dependencies.records.readUse(owner);
  }

  /** Returns the content of a file, or a range of it within its bounds. Reading the content throws as this method does. */
  async read(
    { id, object, bytes }: FileRecord,
    range?: ByteRange,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const from = Math.min(range?.from ?? 0, bytes);
    const to = Math.min(range?.to ?? bytes, bytes);
    const content = await this.#dependencies.store.get(object, { from, to }, signal);
    if (content) return content;
    this.#dependencies.log.error({ file: id, object }, 'the content of a file is missing');
    throw new RouterError('store_unavailable', 'The content of the file is missing.');
  }

  /**
   * Removes a file. Its content is removed as soon as the store answers and no batch holds it.
   * @returns whether the owner had a file with this id
   */
  async delete(owner: string, id: string): Promise<boolean> {
    const object = await this.#dependencies.records.delete(owner, id);
    if (object === undefined) return false;
    // The removal is not awaited, because the store may be unavailable for long. If the removal fails, the sweep tries again.
    if (object !== '') void this.#removeObject(object);
    return true;
  }

  /** Removes content that no batch holds any more. If the store fails, the sweep removes it later. */
  async removeReleased(objects: readonly string[]): Promise<void> {
    for (const object of objects) if (!(await this.#removeObject(object))) return;
  }

  /** Removes expired files, and the content of deleted files and of uploads that ended early. To be called regularly. */
  async sweep(): Promise<void> {
    const { records } = this.#dependencies;
    let objects = await records.takeRemovals(removalsAtOnce);
    while (objects.length > 0) {
      for (const object of objects) await this.#removeObject(object);
      objects = objects.length < removalsAtOnce ? [] : await records.takeRemovals(removalsAtOnce);
    }
  }

  async #receive(
    owner: string,
    body: AsyncIterable<Uint8Array>,
    { signal, expectedBytes, isResult = false, isJoin = false }: AddOptions,
  ): Promise<Upload> {
    const { records, store, fileBytes } = this.#dependencies;
    const object = randomBytes(16).toString('hex');
    const kind = isJoin ? 'join' : isResult ? 'part' : 'file';
    const reserve = (bytes: number, isFirst: boolean): Promise<void> =>
      records.reserve({ owner, object, bytes, begins: isFirst, kind });
    // If the size is known, an upload for which there is no room is refused before its content is read.
    const knownBytes = Math.min(fileBytes, Math.max(0, (expectedBytes ?? 0) - maxFormBytes));
    await reserve(knownBytes, true);
    const leaseTimer = setInterval(() => void reserve(0, false).catch(() => undefined), uploadLeaseMs / 4).unref();
    const meter = new UploadMeter({
      maxBytes: kind === 'file' ? fileBytes : Infinity,
      reserved: knownBytes,
      isSparing: kind !== 'file',
      reserve: (bytes) => reserve(bytes, false),
    });
    try {
      const measured = await store.put(object, meter.pass(body), signal);
      // Throws if the upload counted as dead meanwhile, because parts of its content were then removed.
      await reserve(0, false);
      return {
        object,
        bytes: measured.bytes,
        keep: (description) => this.#countFailure(this.#keep(owner, object, { meter, measured, description })),
        describe: (description) => this.#describe(object, { meter, measured, description }),
        countStored: () => this.#noteKept(measured),
        discard: () => this.#discard(object),
      };
    } catch (error) {
      await this.#discard(object, true);
      throw error;
    } finally {
      clearInterval(leaseTimer);
    }
  }

  async #keep(owner: string, object: string, received: ReceivedFile): Promise<FileRecord> {
    const { records, fileLines } = this.#dependencies;
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
    const { keepMs } = this.#dependencies;
    const { purpose, name, mimeType, expiresAfterMs } = description;
    const { lines, start } = meter;
    const createdAt = Date.now();
    const lifeMs = Math.min(expiresAfterMs ?? Infinity, keepMs ?? Infinity);
    const type = detectMimeType(name, mimeType, start);
    const record = { id: createFileId(), object, purpose, name, mimeType: type, ...measured, lines, createdAt };
    return lifeMs === Infinity ? record : { ...record, expiresAt: createdAt + lifeMs };
  }

  #noteKept({ bytes }: Pick<FileRecord, 'bytes'>): void {
    this.uploads.stored += 1;
    this.storedBytes += bytes;
  }

  /** Waits for a step of an upload, and counts the upload as refused or failed if the step fails. */
  async #countFailure<T>(step: Promise<T>): Promise<T> {
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
   * Releases what an upload has reserved, and removes its content.
   * @param isNoFile whether the caller is certain that the upload did not become a file
   */
  async #discard(object: string, isNoFile = false): Promise<void> {
    try {
      if (await this.#dependencies.records.abandon(object, isNoFile)) await this.#removeObject(object);
    } catch {
      // If Redis is unavailable, the sweep removes the content when the upload counts as dead.
    }
  }

  /**
   * Removes the content of a file.
   * @returns false if the content was not removed; the sweep then tries again
   */
  async #removeObject(object: string): Promise<boolean> {
    const { records, store, log } = this.#dependencies;
    try {
      await store.delete(object);
      await records.noteRemoved(object);
      return true;
    } catch (error) {
      log.warn({ err: error, object }, 'the content of a file could not be removed, trying again');
      return false;
    }
  }
}
