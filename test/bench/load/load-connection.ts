import { connect, type Socket } from 'node:net';
import { AnswerReader } from './answer-reader.ts';
import type { LoadTarget } from './load.ts';
import { doneEvent } from '../upstream/upstream-bytes.ts';

/** One good answer, in milliseconds since the request was written. */
export interface Timing {
  firstMs: number;
  totalMs: number;
}

interface Waiting {
  stream: boolean;
  startedAt: number;
  firstAt: number;
  onFirst: (() => void) | undefined;
  resolve: (timing: Timing) => void;
  reject: (reason: Error) => void;
}

/** The bytes of a request, made once for all connections. */
export interface PreparedRequest {
  bytes: Buffer;
  stream: boolean;
}

/** A request as a client sends it. */
export function prepareRequest({ host, port, path, key }: LoadTarget, body: string): PreparedRequest {
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}:${port}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    'accept: application/json',
    'user-agent: rtr-bench',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  const { stream } = JSON.parse(body) as { stream: boolean };
  return { bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`), stream };
}

/** A client's connection on a raw socket: one request at a time, each answer timed and checked to be complete. */
export class LoadConnection {
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  #waiting: Waiting | undefined;

  constructor({ host, port }: LoadTarget) {
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on('data', (bytes) => this.#onData(bytes));
    this.#socket.on('error', (error) => this.#fail('code' in error ? String(error.code) : error.message));
    this.#socket.on('close', () => this.#fail('closed early'));
  }

  /**
   * Sends a request and waits for the whole answer. Rejects when it is none: the message says why.
   * @param onFirst called with the first byte of the answer's body
   */
  send({ bytes, stream }: PreparedRequest, onFirst?: () => void): Promise<Timing> {
    const { promise, resolve, reject } = Promise.withResolvers<Timing>();
    this.#reader.reset();
    this.#waiting = { stream, startedAt: performance.now(), firstAt: 0, onFirst, resolve, reject };
    this.#socket.write(bytes);
    return promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(bytes: Buffer): void {
    const waiting = this.#waiting;
    const reader = this.#reader;
    if (!waiting) return;
    reader.push(bytes);
    if (waiting.firstAt === 0 && reader.bodyBytes > 0) {
      waiting.firstAt = performance.now();
      waiting.onFirst?.();
    }
    if (!reader.isDone) return;
    const { startedAt, firstAt } = waiting;
    if (reader.status !== 200) return this.#fail(`status ${reader.status}`);
    if (waiting.stream && !reader.tail.endsWith(doneEvent)) return this.#fail('cut off');
    this.#waiting = undefined;
    waiting.resolve({ firstMs: firstAt - startedAt, totalMs: performance.now() - startedAt });
  }

  #fail(reason: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#socket.destroy();
    waiting?.reject(new Error(reason));
  }
}
