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
  counted: Pick<StreamedAnswer, 'relayed' | 'tokens'>;
}

/** Receives one turn of a model in an answer with hosted tools, and passes on the client's events. It does not end the answer. */
export class TurnSink implements ModelSink {
  /** How the turn ended; undefined while it runs, and after it was cancelled. */
  ending: 'complete' | RouterError | undefined;
  /** The placement that serves the turn; undefined until it is known. */
  servedBy: Placement | undefined;
  readonly #parts: TurnSinkParts;
  /** The error if the turn cannot be relayed. The job then fails with a router error. */
  #thrown: RouterError | undefined;

  constructor(parts: TurnSinkParts) {
    this.#parts = parts;
  }

  /** The model's output in this turn, even if the client gets the answer as a whole. */
  get relayedTokens(): number {
    return this.#parts.counted.tokens;
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
    this.ending = this.#thrown ?? error;
  }

  #relay(piece: Uint8Array): string {
    try {
      this.#parts.counted.relayed(piece);
      return this.#parts.relay(piece);
    } catch (error) {
      if (error instanceof RouterError) this.#thrown = error;
      throw error;
    }
  }
}
