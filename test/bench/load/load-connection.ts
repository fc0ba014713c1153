import { connect, type Socket } from 'node:net';
import { clockUs, StampReader } from '../peers/upstream/stamp.ts';
import { AnswerReader } from './answer-reader.ts';
import type { LoadTarget } from './load.ts';

export interface Timing {
  firstMs: number;
  totalMs: number;
  stamps: StreamStamps;
}

/** Delays from the stamps of one answer, in milliseconds on the way; NaN where a stamp is missing. */
export interface StreamStamps {
  texts: number;
  there: number;
  byte: number;
  text: number;
  tokens: number[];
}

interface Waiting {
  request: PreparedRequest;
  startedAt: number;
  /** The same in microseconds of the clock of the stamps. */
  startedUs: number;
  firstAt: number;
  firstUs: number;
  stamps: StreamStamps;
  found: number;
  timer: NodeJS.Timeout | undefined;
  onFirst: (() => void) | undefined;
  resolve: (timing: Timing) => void;
  reject: (reason: Error) => void;
}

/** The bytes of a request, made once for all connections. */
export interface PreparedRequest {
  bytes: Buffer;
  stream: boolean;
  /** Stamped texts of a complete answer; undefined when they are not counted. */
  texts?: number | undefined;
}

/** Stamps of a stream's first text: the arrival of the request, the beginning of the answer, the text. */
const stampsOfFirst = 3;

/** The end of a complete stream, in any format. */
const streamEnd = /data: \[DONE\]\n\n$|message_stop"?\}\n\n$/;

export function prepareRequest(
  { host, port, path, key, headers = [] }: LoadTarget,
  body: string,
  texts?: number,
): PreparedRequest {
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}:${port}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    'accept: application/json',
    'user-agent: rtr-bench',
    ...headers,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  const { stream } = JSON.parse(body) as { stream: boolean };
  return { bytes: Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`), stream, texts };
}

/** A client's connection on a raw socket: one request at a time; each answer is timed and checked to be complete. */
export class LoadConnection {
  readonly #socket: Socket;
  readonly #reader: AnswerReader;
  #stampReader = new StampReader(() => undefined);
  #waiting: Waiting | undefined;
  #readUs = 0;

  /** @param localAddress address of this machine to connect from */
  constructor({ host, port }: LoadTarget, localAddress?: string) {
    this.#reader = new AnswerReader((piece) => this.#stampReader.push(piece));
    this.#socket = connect({ host, port, noDelay: true, ...(localAddress !== undefined && { localAddress }) });
    this.#socket.on('data', (bytes) => this.#onData(bytes));
    this.#socket.on('error', (error) => this.#fail('code' in error ? String(error.code) : error.message));
    this.#socket.on('close', () => this.#fail('closed early'));
  }

  get isOpen(): boolean {
    return this.#waiting !== undefined && !this.#socket.destroyed;
  }

  /**
   * Sends a request and waits for the whole answer. Rejects, with the reason as the message, when the answer is not whole.
   * @param onFirst called with the first byte of the answer's body
   */
  send(request: PreparedRequest, { onFirst, timeoutMs }: SendOptions = {}): Promise<Timing> {
    const { promise, resolve, reject } = Promise.withResolvers<Timing>();
    this.#reader.reset();
    this.#stampReader = new StampReader((us) => this.#onStamp(us));
    this.#waiting = {
      request,
      startedAt: performance.now(),
      startedUs: clockUs(),
      firstAt: 0,
      firstUs: 0,
      stamps: { texts: 0, there: Number.NaN, byte: Number.NaN, text: Number.NaN, tokens: [] },
      found: 0,
      timer: timeoutMs === undefined ? undefined : setTimeout(() => this.#fail(`none in ${timeoutMs} ms`), timeoutMs),
      onFirst,
      resolve,
      reject,
    };
    this.#socket.write(request.bytes);
    return promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #onData(bytes: Buffer): void {
    const waiting = this.#waiting;
    const reader = this.#reader;
    if (!waiting) return;
    this.#readUs = clockUs();
    // The stamps of these bytes are compared with this time, whichever comes first.
    if (waiting.firstAt === 0) waiting.firstUs = this.#readUs;
    reader.push(bytes);
    if (waiting.firstAt === 0 && reader.bodyBytes > 0) {
      waiting.firstAt = performance.now();
      waiting.onFirst?.();
    }
    if (!reader.isDone) return;
    const { startedAt, firstAt, stamps, request } = waiting;
    if (reader.status !== 200) return this.#fail(`status ${reader.status}`);
    if (request.stream && !streamEnd.test(reader.tail)) return this.#fail('cut off');
    if (request.texts !== undefined && request.texts !== stamps.texts) {
      return this.#fail(`${stamps.texts} of ${request.texts} texts`);
    }
    this.#end(waiting);
    waiting.resolve({ firstMs: firstAt - startedAt, totalMs: performance.now() - startedAt, stamps });
  }

  #onStamp(us: number): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const { stamps, startedUs, firstUs } = waiting;
    waiting.found += 1;
    if (waiting.found === 1) stamps.there = (us - startedUs) / 1e3;
    if (waiting.found === 2) stamps.byte = (firstUs - us) / 1e3;
    if (waiting.found < stampsOfFirst) return;
    stamps.texts += 1;
    const delay = (this.#readUs - us) / 1e3;
    if (waiting.found === stampsOfFirst) stamps.text = delay;
    else if (us > 0) stamps.tokens.push(delay);
  }

  #fail(reason: string): void {
    const waiting = this.#waiting;
    this.#socket.destroy();
    if (!waiting) return;
    this.#end(waiting);
    waiting.reject(new Error(reason));
  }

  #end({ timer }: Waiting): void {
    clearTimeout(timer);
    this.#waiting = undefined;
  }
}

export interface SendOptions {
  onFirst?: (() => void) | undefined;
  timeoutMs?: number | undefined;
}
