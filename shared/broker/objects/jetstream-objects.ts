import { jetstream } from '@nats-io/jetstream';
import type { Msg, Payload } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ByteMeter, type ByteDigest } from '#shared/core/byte-meter.ts';
import { RouterError } from '#shared/core/errors.ts';
import { splitIntoChunks } from '#shared/core/split-into-chunks.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { isApiError } from '../connection/on-enough-nodes.ts';
import { ObjectStream } from './object-stream.ts';

/**
 * Bytes of a chunk. It is a small part of NATS' maximum message, so that other messages on the connection wait for less than a millisecond.
 */
const chunkBytes = 256 * 1024;

const windowChunks = 4;

/** Milliseconds within which the broker must answer one try. */
const tryMs = 5_000;
/** Milliseconds within which one server must answer a read. */
const readMs = 2_000;
/** Milliseconds between two tries. */
const againMs = 250;

/** Milliseconds after which a call is not tried again. A restarted broker is back earlier. */
const defaultRetryForMs = 15_000;

/** JetStream's errors for a stream, an account or a server without room, and for a message that could not be stored. */
const fullCodes = [10002, 10023, 10047, 10077];

const objectName = /^[\w-]{1,128}$/;

/** The content of the part `end` of an object. Other releases may have stored objects with chunks of another size. */
const endSchema = z.object({ bytes: z.int().min(0), chunkBytes: z.int().min(1) });
type End = z.output<typeof endSchema>;

export interface JetStreamObjectsOptions {
  maxBytes: number;
  log: Logger;
  /** Milliseconds after which a failing call is not tried again. Default: 15 s. */
  retryForMs?: number;
}

/**
 * Stores objects in JetStream, in files of the NATS servers. An object consists of chunks of 256 KiB, each a message with a subject of its
 * own, and of the part `end`, which is stored last. Chunks without the part `end` do not count as an object. At most a mebibyte of each
 * object is in memory.
 */
export class JetStreamObjects {
  readonly #broker: Broker;
  readonly #stream: ObjectStream;
  readonly #retryForMs: number;

  constructor(broker: Broker, { maxBytes, log, retryForMs = defaultRetryForMs }: JetStreamObjectsOptions) {
    this.#broker = broker;
    this.#retryForMs = retryForMs;
    this.#stream = new ObjectStream(broker, maxBytes, log);
  }

  /**
   * Stores a body under a new name. The object becomes visible when it is complete.
   * @throws RouterError `storage_full`, `store_unavailable`, or what the body or the signal throws. The stored parts are deleted then; if
   * the broker is unavailable, they stay until `delete` is called
   */
  async put(name: string, body: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ByteDigest> {
    assertName(name);
    const madeAt = await this.#retrying(() => this.#stream.ensure(), signal);
    const meter = new ByteMeter();
    const sent: Promise<void>[] = [];
    try {
      let chunks = 0;
      for await (const chunk of splitIntoChunks(meter.pass(body), chunkBytes)) {
        signal?.throwIfAborted();
        if (sent.length === windowChunks) await sent.shift();
        const storing = this.#store(this.#broker.subjects.objectPart(name, chunks), chunk, signal);
        // The promise is awaited later and may reject before; without a handler, the process would end.
        storing.catch(() => undefined);
        sent.push(storing);
        chunks += 1;
      }
      for (const storing of sent) await storing;
      // A stream that was created again meanwhile has lost the first chunks.
      if ((await this.#retrying(() => this.#stream.madeAt(), signal)) !== madeAt)
        throw unavailable(new Error('the stream of objects was made anew'));
      signal?.throwIfAborted();
      const measured = meter.result();
      const end: End = { bytes: measured.bytes, chunkBytes };
      await this.#store(this.#broker.subjects.objectPart(name, 'end'), JSON.stringify(end), signal);
      return measured;
    } catch (error) {
      await Promise.allSettled(sent);
      if (this.#broker.connected) await this.#stream.deleteObject(name).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Reads the bytes of an object from one position up to another, which is not included; undefined if there is no such object.
   * @throws RouterError `store_unavailable`; the iterator throws it too
   */
  async get(
    name: string,
    { from, to }: { from: number; to?: number | undefined } = { from: 0 },
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array> | undefined> {
    assertName(name);
    await this.#retrying(() => this.#stream.ensure(), signal);
    const text = await this.#read(this.#broker.subjects.objectPart(name, 'end'), signal);
    if (!text) return undefined;
    const end = endSchema.parse(JSON.parse(Buffer.from(text).toString()));
    return this.#chunks(name, end, { from, to: Math.min(to ?? end.bytes, end.bytes) }, signal);
  }

  /**
   * Deletes an object, or the parts of an object that was not stored completely.
   * @throws RouterError `store_unavailable`
   */
  async delete(name: string): Promise<void> {
    assertName(name);
    await this.#retrying(async () => {
      await this.#stream.ensure();
      await this.#stream.deleteObject(name);
    });
  }

  async *#chunks(
    name: string,
    { chunkBytes: size }: End,
    { from, to }: { from: number; to: number },
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array> {
    let next = Math.floor(from / size);
    const requested: Promise<Uint8Array>[] = [];
    for (let at = from; at < to;) {
      // The next chunk is on its way while the reader works on this one.
      while (requested.length < 2 && next * size < to) {
        const reading = this.#chunk(name, next, signal);
        reading.catch(() => undefined);
        requested.push(reading);
        next += 1;
      }
      const chunk = await requested.shift();
      signal?.throwIfAborted();
      if (!chunk) return;
      const start = at % size;
      const piece = chunk.subarray(start, Math.min(chunk.length, start + to - at));
      if (piece.length === 0) throw unavailable(new Error(`a chunk of the object ${name} is too short`));
      yield piece;
      at += piece.length;
    }
  }

  async #chunk(name: string, index: number, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const chunk = await this.#read(this.#broker.subjects.objectPart(name, index), signal);
    if (!chunk) throw unavailable(new Error(`a chunk of the object ${name} is missing`));
    return chunk;
  }

  async #store(subject: string, payload: Payload, signal: AbortSignal | undefined): Promise<void> {
    const client = jetstream(this.#broker.nc, { timeout: tryMs });
    await this.#retrying(async () => {
      try {
        await client.publish(subject, payload, { timeout: tryMs });
      } catch (error) {
        // If the broker does not answer, the stream may be missing.
        if (!isApiError(error, ...fullCodes) && this.#broker.connected) await this.#stream.recreate();
        throw error;
      }
    }, signal);
  }

  async #read(subject: string, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    return this.#retrying(
      async () => (await this.#readDirectly(subject)) ?? (await this.#stream.find(subject)),
      signal,
    );
  }

  /** Reads from any server with a copy. A copy may not have the part yet, so after undefined the caller requests it from the leader. */
  async #readDirectly(subject: string): Promise<Uint8Array | undefined> {
    const { nc, subjects } = this.#broker;
    try {
      const answer = await nc.request(`$JS.API.DIRECT.GET.${subjects.objectStream}.${subject}`, '', {
        timeout: readMs,
      });
      return statusOf(answer) === 0 ? answer.data : undefined;
    } catch {
      return undefined;
    }
  }

  /** Retries a failing call until `retryForMs` have passed. Fails at once if the storage is full. */
  async #retrying<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const begun = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      let failure: unknown = new Error('there is no connection to NATS');
      try {
        if (this.#broker.connected) return await this.#unlessLost(act());
      } catch (error) {
        if (isApiError(error, ...fullCodes)) throw storageFull(error);
        failure = error;
      }
      if (performance.now() - begun > this.#retryForMs || this.#broker.nc.isClosed()) throw unavailable(failure);
      await sleep(againMs);
    }
  }

  /** Stops waiting for an answer that was lost with the connection. */
  async #unlessLost<T>(answer: Promise<T>): Promise<T> {
    const lost = Promise.withResolvers<never>();
    const stop = this.#broker.onReconnect(() => lost.reject(new Error('the connection to NATS was lost')));
    try {
      return await Promise.race([answer, lost.promise]);
    } finally {
      stop();
    }
  }
}

function statusOf({ headers }: Msg): number {
  return headers?.code ?? 0;
}

function assertName(name: string): void {
  if (!objectName.test(name)) throw new Error(`an object cannot be named ${JSON.stringify(name)}`);
}

function storageFull(cause: unknown): RouterError {
  return new RouterError('storage_full', 'The storage for files is full.', { cause });
}

function unavailable(cause: unknown): RouterError {
  return new RouterError('store_unavailable', 'The storage for files does not answer. Please try again soon.', {
    retryAfter: 2,
    cause,
  });
}
