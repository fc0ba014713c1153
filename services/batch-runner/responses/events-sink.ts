import type { Job } from '#shared/broker/dispatch/job.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { BackgroundAnswers } from '#shared/formats/background-answers.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';

/** How a request ended: with the event that ends its stream, or with an error. */
export type StreamEnd = { event: string } | { error: RouterError };

export interface EventsSinkParts {
  /** The answer's stream, opened before. It passes whole events on. */
  answer: StreamedAnswer;
  shape: Pick<BackgroundAnswers, 'endAt'>;
  /** Called with further events; none of them ends the stream. */
  write: (events: string) => void;
}

/** Takes the answer of a request that is streamed, and keeps the event that ends it back. */
export class EventsSink implements ModelSink {
  /** Pending for ever if the request is cancelled. */
  readonly ended: Promise<StreamEnd>;
  readonly #parts: EventsSinkParts;
  readonly #resolve: (end: StreamEnd) => void;
  /** The event that ends the stream, as far as it has come. */
  #last = '';

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
    // Nothing depends on who serves it.
  }

  data(bytes: Uint8Array): void {
    this.#take(this.#parts.answer.relayed(bytes));
  }

  keepAlive(): void {
    // Those who stream it get signs of life where they are connected.
  }

  end(bytes: Uint8Array): void {
    this.#take(this.#parts.answer.relayed(bytes, true));
    const error = new RouterError('upstream_failed', 'The upstream has sent no end of its answer.');
    this.#resolve(this.#last === '' ? { error } : { event: this.#last });
  }

  fail(error: RouterError): void {
    this.#resolve({ error });
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const events = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    const { shape, write } = this.#parts;
    const at = this.#last === '' ? shape.endAt(events) : 0;
    if (at !== 0) write(at === -1 ? events : events.slice(0, at));
    if (at !== -1) this.#last += events.slice(at);
  }
}
