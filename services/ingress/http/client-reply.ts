import type { ServerResponse } from 'node:http';
import type { RouterError } from '#shared/core/errors.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';
import { refuse } from './refuse.ts';

/** Bytes that may wait for a client that reads too slowly before it is cut off. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** Milliseconds without progress for the last bytes of an answer to be read. */
const unreadMs = 30_000;

/**
 * Writes one job's answer to the client. The status is decided by the first thing there is to say; after it, a failure
 * is an explicit error event and a closed stream.
 */
export class ClientReply implements ModelSink {
  readonly #response: ServerResponse;
  readonly #format: AnswerFormat;
  readonly #requestId: string;
  readonly #stream: boolean;
  readonly #onBegin: () => void;
  readonly #answer: StreamedAnswer;

  /** @param onBegin called when the answer begins: from then on its request's body is not needed any more */
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

  /** About how many tokens of a streamed answer were relayed. */
  get relayedTokens(): number {
    return this.#answer.tokens;
  }

  data(bytes: Uint8Array): void {
    this.#answer.relayed(bytes);
    this.#startStream();
    // The response corks its socket until all of this turn is done, so that pieces leave behind the ends of other answers,
    // unless the socket is corked already.
    const socket = this.#response.socket;
    socket?.cork();
    this.#response.write(this.#copyIfWaiting(bytes));
    socket?.uncork();
    // A client that is cut off closes the response, and so cancels its job.
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

  /** What has to wait is copied: as it came, it may keep all that was read from the broker with it. */
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
      // Proxies that follow nginx's convention pass a stream on as it comes.
      'x-accel-buffering': 'no',
    });
  }
}
