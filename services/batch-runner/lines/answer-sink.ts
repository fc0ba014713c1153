import type { Job } from '#shared/broker/dispatch/job.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';

/** How a request ended: with the text of its answer, or with an error. */
export type Answer =
  | { text: string }
  /** `refusedFor` is the model if its upstream limits the rate of requests or is overloaded; undefined for other errors. */
  | { error: RouterError; refusedFor?: string };

/** Receives the answer of a request that is not streamed. */
export class AnswerSink implements ModelSink {
  /** Never settles if the request is cancelled. */
  readonly answer: Promise<Answer>;
  readonly relayedTokens = 0;
  readonly #resolve: (answer: Answer) => void;

  readonly hold: (bytes: number) => void;

  /** @param hold see `ModelSink.hold` */
  constructor(hold: (bytes: number) => void) {
    this.hold = hold;
    const { promise, resolve } = Promise.withResolvers<Answer>();
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
    this.#resolve({ text: Buffer.from(bytes).toString() });
  }

  fail(error: RouterError): void {
    this.#resolve({ error });
  }
}
