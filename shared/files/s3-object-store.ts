import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
  S3ServiceException,
  type MultipartUpload,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { ByteMeter, type Measured } from '#shared/core/byte-meter.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { ByteRange, ObjectStore } from './object-store.ts';

/** Bytes of a part of an upload. S3 accepts 10,000 parts of at least 5 MiB. */
const partBytes = 8 * 1024 * 1024;
/** Maximum of parts that are sent at once. */
const partsAtOnce = 2;

export interface S3Access {
  bucket: string;
  folder: string;
  region: string;
  /** URL of a store other than Amazon's. */
  endpoint?: string | undefined;
  /** If undefined, the client uses the variables or files of the process, or the identity of its machine or pod. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** Objects in a bucket of a store that speaks the S3 protocol. All parts of an upload become visible at the same time. */
export class S3ObjectStore implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #folder: string;

  constructor({ bucket, folder, region, endpoint, credentials }: S3Access) {
    this.#bucket = bucket;
    this.#folder = folder;
    this.#client = new S3Client({
      region,
      maxAttempts: 4,
      // Many stores do not support the checksums that Amazon's store has accepted since 2025.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(credentials && { credentials }),
    });
  }

  async put(name: string, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Measured> {
    const meter = new ByteMeter();
    const caught: { error?: unknown } = {};
    const source = Readable.from(noteErrors(meter.pass(body), caught), { objectMode: false, highWaterMark: 64 * 1024 });
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#at(name), Body: source },
      partSize: partBytes,
      queueSize: partsAtOnce,
    });
    const abort = (): void => void upload.abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      signal?.throwIfAborted();
      await upload.done();
      return meter.result();
    } catch (error) {
      source.destroy();
      signal?.throwIfAborted();
      if ('error' in caught) throw caught.error;
      throw storeError(error);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  async get(
    name: string,
    { from, to }: ByteRange = { from: 0 },
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    const isWhole = from === 0 && to === undefined;
    const range = isWhole ? {} : { Range: `bytes=${from}-${to === undefined ? '' : to - 1}` };
    try {
      const command = new GetObjectCommand({ ...this.#at(name), ...range });
      const { Body: body } = await this.#client.send(command, signal ? { abortSignal: signal } : {});
      return body instanceof Readable ? wrapErrors(body) : emptyStream();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof S3ServiceException)) throw storeError(error);
      if (error.name === 'NoSuchKey' || error.$metadata.httpStatusCode === 404) return undefined;
      // With this status, the range begins behind the last byte.
      if (error.$metadata.httpStatusCode === 416) return emptyStream();
      throw storeError(error);
    }
  }

  async delete(name: string): Promise<void> {
    const { Bucket, Key } = this.#at(name);
    try {
      await this.#client.send(new DeleteObjectCommand({ Bucket, Key }));
      for (const { UploadId } of await this.#unfinished(Bucket, Key))
        await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Returns uploads of an object that a process has left unfinished. Stores that cannot list such uploads remove them by themselves.
   */
  async #unfinished(Bucket: string, Prefix: string): Promise<MultipartUpload[]> {
    try {
      return (await this.#client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }))).Uploads ?? [];
    } catch (error) {
      if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 501) return [];
      throw error;
    }
  }

  close(): void {
    this.#client.destroy();
  }

  #at(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#folder}${name}` };
  }
}

/**
 * Passes a body on unchanged, and stores an error of the body in `caught`, because the library replaces such errors by other ones. An error
 * that a failed request throws into the generator, to end it, is not stored.
 */
async function* noteErrors(body: AsyncIterable<Uint8Array>, caught: { error?: unknown }): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const piece = await pieces.next().catch((error: unknown) => {
        caught.error = error;
        throw error;
      });
      if (piece.done) return;
      yield piece.value;
    }
  } finally {
    await pieces.return?.();
  }
}

async function* wrapErrors(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) yield piece as Uint8Array;
  } catch (error) {
    throw storeError(error);
  }
}

async function* emptyStream(): AsyncGenerator<Uint8Array> {}

/** Returns the error for an error of the store. The store's message goes only to the log, because it may name the bucket. */
function storeError(cause: unknown): RouterError {
  const isFull = cause instanceof S3ServiceException && isFullStatus(cause);
  if (isFull) return new RouterError('storage_full', 'The storage for files is full.', { cause });
  return new RouterError('store_unavailable', 'The storage for files does not answer. Please try again soon.', {
    retryAfter: 2,
    cause,
  });
}

/** Returns whether an error means that the store is full: by HTTP's status 507, or by the names that MinIO and Ceph use. */
function isFullStatus({ name, $metadata }: S3ServiceException): boolean {
  return $metadata.httpStatusCode === 507 || name === 'XMinioStorageFull' || name === 'QuotaExceeded';
}
