import type { ServedJob } from '#shared/broker/dispatch/job-sink.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';
import type { ModelSink } from '../serve-model.ts';

export interface TurnSinkParts {
  sink: ModelSink;
  stream: boolean;
  isFirst: boolean;
  /** Converts a piece of the turn to the client's events. */
  relay: (piece: Uint8Array) => string;
  counter: Pick<StreamedAnswer, 'relay' | 'tokens'>;
}

/** Receives one turn of an answer with hosted tools, and passes the client's events on. Does not end the answer. */
export class TurnSink implements ModelSink {
  /** How the turn ended; undefined while it runs, and after it was cancelled. */
  ending: 'complete' | RouterError | undefined;
  /** The placement that serves the turn; undefined until it is known. */
  servedBy: Placement | undefined;
  readonly #parts: TurnSinkParts;
  /** The error of `relay`, if there is one. The job then fails with another error, which this error replaces. */
  #relayError: RouterError | undefined;

  constructor(parts: TurnSinkParts) {
    this.#parts = parts;
  }

  /** Tokens of the model's output in this turn, even if the answer is not streamed to the client. */
  get relayedTokens(): number {
    return this.#parts.counter.tokens;
  }

  begin(job: ServedJob): void {
    this.servedBy = job.attempt?.placement;
    if (this.#parts.isFirst) this.#parts.sink.begin(job);
  }

  data(piece: Uint8Array): void {
    const { sink, stream } = this.#parts;
    const events = this.#relay(piece);
    if (stream && events !== '') sink.data(Buffer.from(events));
  }

  moved(job: ServedJob): void {
    if (this.#parts.stream) this.#parts.sink.moved?.(job);
  }

  keepAlive(): void {
    if (this.#parts.stream) this.#parts.sink.keepAlive();
  }

  end(piece: Uint8Array): void {
    this.data(piece);
    this.ending = 'complete';
  }

  fail(error: RouterError): void {
    this.ending = this.#relayError ?? error;
  }

  #relay(piece: Uint8Array): string {
    try {
      this.#parts.counter.relay(piece);
      return this.#parts.relay(piece);
    } catch (error) {
      if (error instanceof RouterError) this.#relayError = error;
      throw error;
    }
  }
}
