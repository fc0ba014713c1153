import type { Job } from '#shared/broker/dispatch/job.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';

/** How a request ended: with the text of an answer, or with an error. */
export type Answer =
  | { text: string }
  /** `refusedFor` names the model whose upstream refused it for now. */
  | { error: RouterError; refusedFor?: string };

/** Takes the answer of a request that is not streamed. */
export class AnswerSink implements ModelSink {
  /** Pending for ever if the request is cancelled. */
  readonly answer: Promise<Answer>;
  readonly relayedTokens = 0;
  readonly #resolve: (answer: Answer) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.answer = promise;
    this.#resolve = resolve;
  }

  begin(_job: Job): void {
    // Nothing depends on who serves it.
  }

  data(_bytes: Uint8Array): void {
    // Only streamed answers have pieces.
  }

  keepAlive(): void {
    // Nobody waits on a connection.
  }

  end(bytes: Uint8Array): void {
    this.#resolve({ text: Buffer.from(bytes).toString() });
  }

  fail(error: RouterError): void {
    this.#resolve({ error });
  }
}
