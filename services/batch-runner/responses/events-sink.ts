import type { Job } from '#shared/broker/dispatch/job.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { BackgroundAnswers } from '#shared/formats/background-answers.ts';
import { partialEvents, type PartialEvent } from '#shared/formats/sse/partial-events.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';
import type { MemoryBound, ModelSink } from '#shared/serving/serve-model.ts';

const noBytes = Buffer.alloc(0);

/** How a request ended: with the last event of its stream, or with an error. */
export type StreamEnd = { event: Buffer } | { error: RouterError };

export interface EventsSinkParts {
  /** The open stream of the answer, which returns whole events. */
  answer: StreamedAnswer;
  /** Reads events of the format. */
  backgroundFormat: Pick<BackgroundAnswers, 'findEndOffset'>;
  /** Called with all events except the one that ends the stream. */
  write: (events: string) => void;
  /** See `ModelSink.hold`. */
  hold: (bytes: number, bound: MemoryBound) => void;
}

/** Receives a streamed answer, and holds back the event that ends it. */
export class EventsSink implements ModelSink {
  /** Never settles if the request is cancelled. */
  readonly ended: Promise<StreamEnd>;
  readonly #parts: EventsSinkParts;
  readonly #resolve: (end: StreamEnd) => void;
  /** The event that ends the stream, as far as it has come; undefined before it. */
  #last: PartialEvent | undefined;

  constructor(parts: EventsSinkParts) {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#parts = parts;
  }

  get relayedTokens(): number {
    return this.#parts.answer.tokens;
  }

  begin(_job: Job): void {
    // The answer does not depend on the worker.
  }

  data(bytes: Uint8Array): void {
    this.#passOn(this.#parts.answer.relay(bytes));
  }

  hold(bytes: number, bound: MemoryBound): void {
    this.#parts.hold(bytes, bound);
  }

  keepAlive(): void {
    // The ingress sends keep-alives to the clients of the stream.
  }

  end(bytes: Uint8Array): void {
    this.#passOn(this.#parts.answer.relay(bytes, true));
    if (this.#last) this.#resolve({ event: this.#last.take(noBytes) });
    else this.fail(new RouterError('upstream_failed', 'The upstream has sent no end of its answer.'));
  }

  fail(error: RouterError): void {
    this.#last?.take(noBytes);
    this.#resolve({ error });
  }

  #passOn(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#last !== undefined) return this.#last.add(bytes);
    const events = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    const { backgroundFormat, write } = this.#parts;
    const endOffset = backgroundFormat.findEndOffset(events);
    if (endOffset !== 0) write(endOffset === -1 ? events : events.slice(0, endOffset));
    if (endOffset === -1) return;
    this.#last = partialEvents.open();
    this.#last.add(Buffer.from(events.slice(endOffset)));
  }
}
