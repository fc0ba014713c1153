import type { ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { pickHeaders, type RawHeaders } from '#shared/core/pick-headers.ts';
import { fittedLimitHeader } from '#shared/formats/context-overflow.ts';
import type { ServedJob } from '#shared/broker/dispatch/job-sink.ts';
import type { AnswerFormat, StreamOpening } from '#shared/formats/client-format.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import type { MemoryBound, ModelSink } from '#shared/serving/serve-model.ts';
import { DetachedResponse } from '../idempotency/detached-response.ts';
import type { BodyReservation } from './body-reservation.ts';
import { refuse, startEvents } from './refuse.ts';
import { BoundedResponse } from './unread/bounded-response.ts';
import type { UnreadOutputs } from './unread/unread-outputs.ts';

export interface ReplyOptions {
  format: AnswerFormat;
  requestId: string;
  /** See `StreamOpening`. */
  answerId?: string | undefined;
  /** See `StreamOpening`. */
  repeated?: StreamOpening['repeated'];
  stream: boolean;
  unreadOutputs: UnreadOutputs;
  /** The memory reserved for the request. It is released when the answer begins, unless the reply keeps the body. */
  memory: Pick<BodyReservation, 'hold' | 'releaseBody'>;
}

/**
 * Writes one job's answer to the client. The first output decides the HTTP status. A later failure is sent as an error event that ends the
 * stream.
 */
export class ClientReply implements ModelSink {
  readonly #response: ServerResponse;
  readonly #format: AnswerFormat;
  readonly #requestId: string;
  readonly #memory: ReplyOptions['memory'];
  /** Undefined for an answer that is not streamed. */
  readonly #answer: StreamedAnswer | undefined;
  readonly #output: BoundedResponse;
  #keepsBody = false;
  #hasBegun = false;
  #running: Pick<RunningRequest, 'cancel' | 'fail'> | undefined;

  constructor(response: ServerResponse, options: ReplyOptions) {
    const { format, requestId, answerId, repeated, stream, unreadOutputs, memory } = options;
    this.#response = response;
    this.#format = format;
    this.#requestId = requestId;
    this.#answer = stream ? format.openStream({ requestId, answerId, repeated }) : undefined;
    this.#output = new BoundedResponse(response, unreadOutputs, () => this.#onUnread());
    this.#memory = memory;
  }

  /**
   * Cancels the running request when the client disconnects, and fails it when the client does not read the answer. A finished request is
   * not affected.
   */
  follow(running: RunningRequest | undefined): RunningRequest | undefined {
    this.#running = running;
    if (!running) return undefined;
    if (this.#response.destroyed) running.cancel();
    else this.#response.on('close', running.cancel);
    return running;
  }

  begin({ attempt, attempts, queuedAt }: ServedJob): void {
    if (!this.#keepsBody) this.#memory.releaseBody();
    if (!attempt || this.#response.headersSent) return;
    const { id, announcement } = attempt.worker;
    const { rule } = attempt.placement;
    if (attempt.answerHeaders) this.#passHeaders(attempt.answerHeaders);
    if (rule !== undefined) this.#response.setHeader('x-rtr-rule', rule);
    this.#response.setHeader('x-rtr-tier', announcement.tier);
    this.#response.setHeader('x-rtr-worker', id);
    this.#response.setHeader('x-rtr-attempts', attempts);
    this.#response.setHeader('x-rtr-queue-ms', Math.round(attempt.assignedAt - queuedAt));
  }

  #passHeaders(headers: RawHeaders): void {
    const passed = pickHeaders(headers, [...(this.#format.answerHeaders ?? []), fittedLimitHeader]);
    for (const [name, value] of Object.entries(passed)) this.#response.setHeader(name, value);
  }

  /** Keeps the request body allocated until the answer is complete, instead of releasing it when the answer begins. */
  keepBody(): void {
    this.#keepsBody = true;
  }

  /** Adds bytes to the memory reserved for the request. */
  hold(bytes: number, bound: MemoryBound): void {
    this.#memory.hold(bytes, bound);
  }

  /** Estimated tokens of the streamed answer that were relayed so far. */
  get relayedTokens(): number {
    return this.#answer?.tokens ?? 0;
  }

  /**
   * Sends the first piece at once, before pieces that wait for other clients. Later pieces are sent at the end of the event loop's turn.
   */
  data(bytes: Uint8Array): void {
    const piece = this.#answer?.relay(bytes);
    if (!piece || piece.length === 0) return;
    this.#startStream();
    if (this.#hasBegun) return this.#output.writeSoon(piece);
    this.#hasBegun = true;
    this.#output.write(piece);
  }

  /** Writes a comment into the stream when another worker continues the answer. People can read it; clients ignore comments. */
  moved({ attempt }: ServedJob): void {
    if (attempt && this.#answer && !this.#answer.isPlain) this.#output.write(`: rtr moved to ${attempt.worker.id}\n\n`);
  }

  keepAlive(): void {
    if (!this.#answer || this.#answer.isPlain) return;
    this.#startStream();
    this.#output.write(this.#answer.keepAlive());
  }

  end(bytes: Uint8Array): void {
    const piece = this.#answer ? this.#answer.relay(bytes, true) : bytes;
    if (this.#answer) this.#startStream();
    else this.#response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
    this.#output.end(piece);
  }

  /** Ends the answer with an error: an error event if the answer has begun, otherwise a response with the status of the error. */
  fail(error: RouterError): void {
    if (this.#response instanceof DetachedResponse) this.#response.noteFailure({ error, hasBegun: this.#hasBegun });
    try {
      if (this.#answer?.opensToFail?.(error) === true) this.#startStream();
      if (!this.#response.headersSent) refuse(this.#response, this.#format, error, this.#requestId);
      // The connection is closed, so that the client does not take the part that it has for the whole answer.
      else if (!this.#answer || this.#answer.isPlain) this.#response.destroy();
      else this.#output.end(this.#answer.errorEvent(error));
    } catch (thrown) {
      // A client that cannot receive the error must not wait for it.
      this.#response.destroy();
      throw thrown;
    }
  }

  #onUnread(): void {
    const error = new RouterError('request_timeout', 'The answer was not read fast enough.');
    if (this.#running) this.#running.fail(error);
    else this.fail(error);
  }

  #startStream(): void {
    if (this.#response.headersSent) return;
    if (this.#answer?.isPlain) this.#response.writeHead(200);
    else startEvents(this.#response);
  }
}
