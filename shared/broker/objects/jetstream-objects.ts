import { jetstream } from '@nats-io/jetstream';
import type { Msg, Payload } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { z } from 'zod';
import { ByteMeter, type ByteDigest } from '#shared/core/byte-meter.ts';
import { RouterError } from '#shared/core/errors.ts';
import { splitIntoChunks } from '#shared/core/split-into-chunks.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { isApiError } from '../connection/jetstream.ts';
import { ObjectStream } from './object-stream.ts';

/**
 * Bytes of a chunk. It is a small part of NATS' maximum message, so that other messages on the connection wait for less than a millisecond.
 */
const chunkBytes = 256 * 1024;

/** Maximum chunks of one object that are sent and not yet stored. */
const maxUnconfirmedChunks = 4;

/**
 * Maximum parts of all objects that are requested and have not arrived; together, they have 4 MiB. A NATS server disconnects a client that
 * leaves 64 MiB unread (its setting `max_pending`).
 */
const maxRequestedParts = 16;

/** Milliseconds within which the broker must answer one try to store a part. */
const tryTimeoutMs = 5_000;
/** Milliseconds within which a server must answer a request for a part. */
const readTimeoutMs = 2_000;
/** Milliseconds between two tries. */
const retryPauseMs = 250;

/** Milliseconds after which a failing call is not tried again. A restarted broker is back sooner than that. */
const defaultRetryForMs = 15_000;

/** JetStream's errors for a stream, an account or a server that has no room, and for a message that could not be stored. */
const storageFullCodes = [10002, 10023, 10047, 10077];

const objectNamePattern = /^[\w-]{1,128}$/;

/** The content of an object's part `end`. It includes `chunkBytes`, because other releases may store chunks of another size. */
const endSchema = z.object({ bytes: z.int().min(0), chunkBytes: z.int().min(1) });
type End = z.output<typeof endSchema>;

/**
 * Stores objects in JetStream, in files of the NATS servers. An object consists of chunks of 256 KiB and of the part `end`, which is stored
 * last. Each part is a message with a subject of its own. Chunks without a part `end` do not count as an object. While an object is stored
 * or read, at most a mebibyte of it is in memory.
 */
export class JetStreamObjects {
  readonly #broker: Broker;
  readonly #stream: ObjectStream;
  readonly #retryForMs: number;
  readonly #limitRequests = pLimit(maxRequestedParts);

  /**
   * @param maxBytes maximum bytes of all objects together
   * @param retryForMs milliseconds after which a failing call is not tried again
   */
  constructor(broker: Broker, maxBytes: number, log: Logger, retryForMs = defaultRetryForMs) {
    this.#broker = broker;
    this.#retryForMs = retryForMs;
    this.#stream = new ObjectStream(broker, maxBytes, log);
  }

  /**
   * Stores a body as an object with a new name. Readers find the object once all of its parts are stored.
   * @returns the size and digest of the body
   * @throws RouterError `storage_full`, `store_unavailable`, or what the body or the signal throws. After an error, the parts that were
   * stored are deleted; if the broker is unavailable, they stay until `delete` is called
   */
  async put(name: string, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ByteDigest> {
    assertName(name);
    const createdAt = await this.#retry(() => this.#stream.readCreationTime(), signal);
    const meter = new ByteMeter();
    const pendingChunks: Promise<void>[] = [];
    try {
      let chunks = 0;
      for await (const chunk of splitIntoChunks(meter.pass(body), chunkBytes)) {
        signal?.throwIfAborted();
        if (pendingChunks.length === maxUnconfirmedChunks) await pendingChunks.shift();
        const storing = this.#storePart(this.#broker.subjects.objectPart(name, chunks), chunk, signal);
        // The promise may reject before it is awaited. Without a handler, the process would then end.
        storing.catch(() => undefined);
        pendingChunks.push(storing);
        chunks += 1;
      }
      for (const storing of pendingChunks) await storing;
      // A stream that was created again while the chunks were sent has lost the first ones.
      if ((await this.#retry(() => this.#stream.readCreationTime(), signal)) !== createdAt)
        throw createUnavailableError(new Error('the stream of objects was created again'));
      signal?.throwIfAborted();
      const measured = meter.result();
      const end: End = { bytes: measured.bytes, chunkBytes };
      await this.#storePart(this.#broker.subjects.objectPart(name, 'end'), JSON.stringify(end), signal);
      return measured;
    } catch (error) {
      await Promise.allSettled(pendingChunks);
      if (this.#broker.connected) await this.#stream.deleteObject(name).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Reads an object's bytes from the position `from`, counted from 0, up to `to`, which is not included. Without `to`, reads to the end.
   * @returns undefined if there is no such object
   * @throws RouterError `store_unavailable`; the iterator may throw it, too
   */
  async get(
    name: string,
    { from, to }: { from: number; to?: number | undefined } = { from: 0 },
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    assertName(name);
    await this.#retry(() => this.#stream.ensure(), signal);
    const endPart = await this.#readPart(this.#broker.subjects.objectPart(name, 'end'), signal);
    if (!endPart) return undefined;
    const end = endSchema.parse(JSON.parse(Buffer.from(endPart).toString()));
    return this.#readChunks(name, end, { from, to: Math.min(to ?? end.bytes, end.bytes) }, signal);
  }

  /**
   * Deletes an object, even if only some of its parts were stored. Does nothing if there is no such object.
   * @throws RouterError `store_unavailable`
   */
  async delete(name: string): Promise<void> {
    assertName(name);
    await this.#retry(async () => {
      await this.#stream.ensure();
      await this.#stream.deleteObject(name);
    });
  }

  async *#readChunks(
    name: string,
    { chunkBytes: size }: End,
    { from, to }: { from: number; to: number },
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array> {
    let nextIndex = Math.floor(from / size);
    const requested: Promise<Uint8Array>[] = [];
    for (let position = from; position < to;) {
      // The next chunk is requested already, so that it arrives while the reader works on this one.
      while (requested.length < 2 && nextIndex * size < to) {
        const reading = this.#readChunk(name, nextIndex, signal);
        reading.catch(() => undefined);
        requested.push(reading);
        nextIndex += 1;
      }
      const chunk = await requested.shift();
      signal?.throwIfAborted();
      if (!chunk) return;
      const start = position % size;
      const piece = chunk.subarray(start, Math.min(chunk.length, start + to - position));
      if (piece.length === 0) throw createUnavailableError(new Error(`a chunk of the object ${name} is too short`));
      yield piece;
      position += piece.length;
    }
  }

  async #readChunk(name: string, index: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const chunk = await this.#readPart(this.#broker.subjects.objectPart(name, index), signal);
    if (!chunk) throw createUnavailableError(new Error(`a chunk of the object ${name} is missing`));
    return chunk;
  }

  async #storePart(subject: string, payload: Payload, signal: AbortSignal | undefined): Promise<void> {
    const client = jetstream(this.#broker.nc, { timeout: tryTimeoutMs });
    await this.#retry(async () => {
      try {
        await client.publish(subject, payload, { timeout: tryTimeoutMs });
      } catch (error) {
        // The stream may be missing, and the next try needs it.
        if (!isApiError(error, ...storageFullCodes) && this.#broker.connected) await this.#stream.ensureAgain();
        throw error;
      }
    }, signal);
  }

  async #readPart(subject: string, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    const read = async (): Promise<Uint8Array | undefined> => {
      signal?.throwIfAborted();
      return (await this.#readDirectly(subject)) ?? (await this.#stream.findPart(subject));
    };
    return this.#retry(() => this.#limitRequests(read), signal);
  }

  /**
   * Reads a part from any server that has a copy of the stream.
   * @returns undefined if that copy does not have the part yet, or no server answers. The caller then asks the leader
   */
  async #readDirectly(subject: string): Promise<Uint8Array | undefined> {
    const { nc, subjects } = this.#broker;
    try {
      const answer = await nc.request(`$JS.API.DIRECT.GET.${subjects.objectStream}.${subject}`, '', {
        timeout: readTimeoutMs,
      });
      return readStatus(answer) === 0 ? answer.data : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Makes a call, and repeats it while it fails, until `retryForMs` have passed.
   * @throws RouterError `storage_full` at once, otherwise `store_unavailable` in the end; or what the signal throws
   */
  async #retry<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const startedAt = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      let failure: unknown = new Error('there is no connection to NATS');
      try {
        if (this.#broker.connected) return await this.#failIfConnectionLost(call());
      } catch (error) {
        if (isApiError(error, ...storageFullCodes)) throw createStorageFullError(error);
        failure = error;
      }
      if (performance.now() - startedAt > this.#retryForMs || this.#broker.nc.isClosed())
        throw createUnavailableError(failure);
      await sleep(retryPauseMs);
    }
  }

  /**
   * Waits for an answer of the broker.
   * @throws if the connection was lost meanwhile, because the answer was lost with it
   */
  async #failIfConnectionLost<T>(answer: Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    const stop = this.#broker.onReconnect(() => lost.reject(new Error('the connection to NATS was lost')));
    try {
      return await Promise.race([answer, lost.promise]);
    } finally {
      stop();
    }
  }
}

function readStatus({ headers }: Msg): number {
  return headers?.code ?? 0;
}

function assertName(name: string): void {
  if (!objectNamePattern.test(name)) throw new Error(`an object cannot be named ${JSON.stringify(name)}`);
}

function createStorageFullError(cause: unknown): RouterError {
  return new RouterError('storage_full', 'The storage for files is full.', { cause });
}

function createUnavailableError(cause: unknown): RouterError {
  return new RouterError('store_unavailable', 'The storage for files does not answer. Please try again soon.', {
    retryAfter: 2,
    cause,
  });
}
