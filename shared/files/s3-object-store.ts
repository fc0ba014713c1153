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
import { ByteMeter, type ByteDigest } from '#shared/core/byte-meter.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { ByteRange, ObjectStore } from './object-store.ts';

/** Bytes of a part of an upload. S3 accepts 10,000 parts of at least 5 MiB. */
const partBytes = 8 * 1024 * 1024;
/** Maximum number of parts that are sent at once. */
const partsAtOnce = 2;

export interface S3Access {
  bucket: string;
  folder: string;
  region: string;
  /** URL of a store other than Amazon's. */
  endpoint?: string | undefined;
  /** If undefined, the client finds credentials in AWS's variables or files, or uses the identity of the machine or pod. */
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

  async put(name: string, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ByteDigest> {
    const meter = new ByteMeter();
    const caught: { error?: unknown } = {};
    const source = Readable.from(captureErrors(meter.pass(body), caught), {
      objectMode: false,
      highWaterMark: 64 * 1024,
    });
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#locate(name), Body: source },
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
      throw toStoreError(error);
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
      const command = new GetObjectCommand({ ...this.#locate(name), ...range });
      const { Body: body } = await this.#client.send(command, signal ? { abortSignal: signal } : {});
      return body instanceof Readable ? convertErrors(body) : createEmptyStream();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof S3ServiceException)) throw toStoreError(error);
      if (error.name === 'NoSuchKey' || error.$metadata.httpStatusCode === 404) return undefined;
      // With this status, the range begins behind the last byte.
      if (error.$metadata.httpStatusCode === 416) return createEmptyStream();
      throw toStoreError(error);
    }
  }

  async delete(name: string): Promise<void> {
    const { Bucket, Key } = this.#locate(name);
    try {
      await this.#client.send(new DeleteObjectCommand({ Bucket, Key }));
      for (const { UploadId } of await this.#findUnfinished(Bucket, Key))
        await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /**
   * Finds uploads of an object that a process has left unfinished. Stores that cannot list such uploads remove them by themselves.
   */
  async #findUnfinished(Bucket: string, Prefix: string): Promise<MultipartUpload[]> {
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

  #locate(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#folder}${name}` };
  }
}

/**
 * Passes a body on unchanged. Stores an error of the body in `caught`, because the library replaces such errors by its own. Does not store
 * an error that a failed request throws into the generator to end it.
 */
async function* captureErrors(
  body: AsyncIterable<Uint8Array>,
  caught: { error?: unknown },
): AsyncGenerator<Uint8Array> {
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

async function* convertErrors(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) yield piece as Uint8Array;
  } catch (error) {
    throw toStoreError(error);
  }
}

async function* createEmptyStream(): AsyncGenerator<Uint8Array> {}

/** Converts an error of the store to an error for clients. The store's message goes only to the log, because it may name the bucket. */
function toStoreError(cause: unknown): RouterError {
  const isFull = cause instanceof S3ServiceException && isFullError(cause);
  if (isFull) return new RouterError('storage_full', 'The storage for files is full.', { cause });
  return new RouterError('store_unavailable', 'The storage for files does not answer. Please try again soon.', {
    retryAfter: 2,
    cause,
  });
}

/** Returns whether an error means that the store is full: HTTP status 507, or an error name of MinIO or Ceph. */
function isFullError({ name, $metadata }: S3ServiceException): boolean {
  return $metadata.httpStatusCode === 507 || name === 'XMinioStorageFull' || name === 'QuotaExceeded';
}
