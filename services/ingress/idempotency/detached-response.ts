import { ServerResponse, type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import type { Response } from 'express';
import type { RouterError } from '#shared/core/errors.ts';

/** Who takes an answer that has no connection of its own. */
export interface AnswerTaker {
  /** Status and headers are known. */
  begin: (status: number, headers: OutgoingHttpHeaders) => void;
  /** The owner of the memory may reuse it afterwards. */
  data: (bytes: Uint8Array) => void;
  end: () => void;
  /** The answer ends without its end, because it failed midway, or was cancelled. */
  cut: () => void;
}

/** Why an answer failed. */
export interface AnswerFailure {
  error: RouterError;
  /** Whether anything of the answer itself was sent before. */
  hasBegun: boolean;
}

/**
 * A response without a connection: what a handler writes goes to a taker, who takes all at once. It is used where an answer does not end
 * with the connection that asked for it.
 */
export class DetachedResponse extends ServerResponse {
  readonly locals: Record<string, unknown>;
  failure: AnswerFailure | undefined;
  readonly #taker: AnswerTaker;
  #state: 'open' | 'begun' | 'over' = 'open';

  /** @param locals what earlier handlers have found out */
  constructor(request: IncomingMessage, locals: Record<string, unknown>, taker: AnswerTaker) {
    super(request);
    this.locals = locals;
    this.#taker = taker;
    // The class that it extends derives it from what a connection would send.
    Object.defineProperty(this, 'headersSent', { get: () => this.#state !== 'open' });
  }

  /** The same for handlers of Express, of which those that may be detached use nothing else of a response than there is here. */
  get asExpress(): Response {
    return this as unknown as Response;
  }

  /** Whether it has its end. */
  get isOver(): boolean {
    return this.#state === 'over';
  }

  /** Is called before the error is written. */
  noteFailure(failure: AnswerFailure): void {
    this.failure = failure;
  }

  override writeHead(status: number, headers?: unknown): this {
    if (this.#state !== 'open') return this;
    const given = (headers ?? {}) as Record<string, OutgoingHttpHeader | undefined>;
    for (const [name, value] of Object.entries(given)) if (value !== undefined) this.setHeader(name, value);
    this.statusCode = status;
    this.#state = 'begun';
    this.#taker.begin(status, this.getHeaders());
    return this;
  }

  override flushHeaders(): void {
    this.writeHead(this.statusCode);
  }

  override write(chunk: unknown, ...rest: unknown[]): boolean {
    if (this.#state === 'over') return true;
    this.writeHead(this.statusCode);
    this.#taker.data(bytesOf(chunk));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  }

  override end(chunk?: unknown): this {
    if (this.#state === 'over') return this;
    this.writeHead(this.statusCode);
    if (chunk !== undefined && chunk !== null) this.#taker.data(bytesOf(chunk));
    this.#state = 'over';
    this.#taker.end();
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
    this.#taker.cut();
    this.#close();
    return this;
  }

  #close(): void {
    this.destroyed = true;
    process.nextTick(() => this.emit('close'));
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
}
