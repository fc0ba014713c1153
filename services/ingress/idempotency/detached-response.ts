import { ServerResponse, type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import type { RouterError } from '#shared/core/errors.ts';

/** Receives an answer that has no connection of its own. */
export interface AnswerReceiver {
  /** Called with the status and the headers. */
  begin: (status: number, headers: OutgoingHttpHeaders) => void;
  /** Called with the next bytes. The caller may reuse their memory afterwards. */
  data: (bytes: Uint8Array) => void;
  end: () => void;
  /** Called when the answer stops before its end, because it failed after its beginning or was cancelled. */
  cut: () => void;
}

export interface AnswerFailure {
  error: RouterError;
  /** Whether a part of the answer itself was sent before the failure. */
  hasBegun: boolean;
}

/**
 * A response without a connection. Everything that a handler writes goes to an `AnswerReceiver`, which never blocks. This class is used
 * where an answer may continue after its client has disconnected.
 */
export class DetachedResponse extends ServerResponse {
  failure: AnswerFailure | undefined;
  readonly #receiver: AnswerReceiver;
  #state: 'open' | 'begun' | 'over' = 'open';

  constructor(request: IncomingMessage, receiver: AnswerReceiver) {
    super(request);
    this.#receiver = receiver;
    // `ServerResponse` derives `headersSent` from the header bytes for its connection.
    Object.defineProperty(this, 'headersSent', { get: () => this.#state !== 'open' });
  }

  /** The same object, typed for handlers of Express. These handlers use only the members that this class implements. */
  get asExpress(): Response {
    return this as unknown as Response;
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Records the failure of the answer. To be called before the error is written. */
  noteFailure(failure: AnswerFailure): void {
    this.failure = failure;
  }

  override writeHead(status: number, headers?: unknown): this {
    if (this.#state !== 'open') return this;
    const input = (headers ?? {}) as Record<string, OutgoingHttpHeader | undefined>;
    for (const [name, value] of Object.entries(input)) if (value !== undefined) this.setHeader(name, value);
    this.statusCode = status;
    this.#state = 'begun';
    this.#receiver.begin(status, this.getHeaders());
    return this;
  }

  override flushHeaders(): void {
    this.writeHead(this.statusCode);
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    if (this.#state === 'over') return true;
    this.writeHead(this.statusCode);
    this.#receiver.data(toBytes(chunk));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  }

  override end(chunk?: unknown): this {
    if (this.#state === 'over') return this;
    this.writeHead(this.statusCode);
    if (chunk !== undefined && chunk !== null) this.#receiver.data(toBytes(chunk));
    this.#state = 'over';
    this.#receiver.end();
    this.#close();
    return this;
  }

  json(value: unknown): this {
    const bytes = Buffer.from(JSON.stringify(value));
    this.writeHead(this.statusCode, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': bytes.length,
    });
    return this.end(bytes);
  }

  override destroy(): this {
    if (this.#state === 'over') return this;
    this.#state = 'over';
    this.#receiver.cut();
    this.#close();
    return this;
  }

  #close(): void {
    this.destroyed = true;
    process.nextTick(() => this.emit('close'));
  }
}

function toBytes(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
}
