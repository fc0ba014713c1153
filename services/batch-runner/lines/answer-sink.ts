import type { Job } from '#shared/broker/dispatch/job.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { MemoryBound, ModelSink } from '#shared/serving/serve-model.ts';

/** How a request ended: with its answer, or with an error. */
export type ReceivedAnswer = { bytes: Buffer } | { error: RouterError };

/** Receives the answer of a request that is not streamed. */
export class AnswerSink implements ModelSink {
  /** Never settles if the request is cancelled. */
  readonly answer: Promise<ReceivedAnswer>;
  readonly relayedTokens = 0;
  readonly #resolve: (answer: ReceivedAnswer) => void;

  readonly hold: (bytes: number, bound: MemoryBound) => void;

  /** @param hold see `ModelSink.hold` */
  constructor(hold: AnswerSink['hold']) {
    this.hold = hold;
    const { promise, resolve } = Promise.withResolvers<ReceivedAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
  }

  begin(_job: Job): void {
    // The answer does not depend on the worker.
  }

  data(_bytes: Uint8Array): void {
    // Only streamed answers have pieces.
  }

  keepAlive(): void {
    // No client waits on a connection.
  }

  end(bytes: Uint8Array): void {
    this.#resolve({ bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) });
  }

  fail(error: RouterError): void {
    this.#resolve({ error });
  }
}
