import type { ServerResponse } from 'node:http';
import type { RouterError } from '#shared/core/errors.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';
import { refuse } from './refuse.ts';

/** Unread bytes beyond which a client that reads too slowly is disconnected. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** Milliseconds without progress after which a client that does not read the end of its answer is disconnected. */
const unreadMs = 30_000;

/**
 * Writes one job's answer to the client. The first call decides the status; a failure after it is an explicit error event
 * that ends the stream.
 */
export class ClientReply implements ModelSink {
  readonly #response: ServerResponse;
  readonly #format: AnswerFormat;
  readonly #requestId: string;
  readonly #stream: boolean;
  readonly #onBegin: () => void;
  readonly #answer: StreamedAnswer;

  /** @param onBegin called when the answer begins and the body of the request is no longer needed */
  constructor(response: ServerResponse, format: AnswerFormat, requestId: string, stream: boolean, onBegin: () => void) {
    this.#response = response;
    this.#format = format;
    this.#requestId = requestId;
    this.#stream = stream;
    this.#answer = format.openStream(requestId);
    this.#onBegin = onBegin;
  }

  begin({ attempt, attempts, queuedAt }: Job): void {
    this.#onBegin();
    if (!attempt || this.#response.headersSent) return;
    const { id, announcement } = attempt.worker;
    this.#response.setHeader('x-rtr-tier', announcement.tier);
    this.#response.setHeader('x-rtr-worker', id);
    this.#response.setHeader('x-rtr-attempts', attempts);
    this.#response.setHeader('x-rtr-queue-ms', Math.round(attempt.claimedAt - queuedAt));
  }

  /** Tokens of a streamed answer that were relayed, estimated. */
  get relayedTokens(): number {
    return this.#answer.tokens;
  }

  data(bytes: Uint8Array): void {
    this.#answer.relayed(bytes);
    this.#startStream();
    // Unless the socket is corked already, the response corks it until the end of this turn of the event loop, and its
    // pieces leave after the ends of other answers.
    const socket = this.#response.socket;
    socket?.cork();
    this.#response.write(this.#copyIfWaiting(bytes));
    socket?.uncork();
    // Destroying the response cancels its job.
    if (this.#response.writableLength > maxUnreadBytes) this.#response.destroy();
  }

  keepAlive(): void {
    this.#startStream();
    this.#response.write(this.#answer.keepAlive());
  }

  end(bytes: Uint8Array): void {
    if (this.#stream) this.#startStream();
    else this.#response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
    this.#end(this.#copyIfWaiting(bytes));
  }

  fail(error: RouterError): void {
    try {
      if (this.#response.headersSent) this.#end(this.#answer.errorEvent(error));
      else refuse(this.#response, this.#format, error, this.#requestId);
    } catch (thrown) {
      // A client that cannot receive the error must not wait for it.
      this.#response.destroy();
      throw thrown;
    }
  }

  /** Copies bytes that cannot be sent at once: they may be a view of a much larger buffer read from the broker. */
  #copyIfWaiting(bytes: Uint8Array): Uint8Array {
    const { socket, writableLength } = this.#response;
    return socket === null || writableLength > 0 ? Buffer.from(bytes) : bytes;
  }

  #end(lastBytes: Uint8Array | string): void {
    this.#response.end(lastBytes);
    if (this.#response.writableLength > 0) this.#response.setTimeout(unreadMs, () => this.#response.destroy());
  }

  #startStream(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      // Proxies that follow nginx's convention do not buffer the stream.
      'x-accel-buffering': 'no',
    });
  }
}
