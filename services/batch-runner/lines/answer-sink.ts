import type { Job } from '#shared/broker/dispatch/job.ts';
import { RouterError, toRouterError } from '#shared/core/errors.ts';
import { isJsonObjectText } from '#shared/core/is-json-object-text.ts';
import type { ModelSink } from '#shared/serving/serve-model.ts';
import type { LineMemory } from './line-memory.ts';

/** How a request ended: with the text of its answer, or with an error. */
export type Answer =
  | { text: string }
  /** `refusedFor` is the model if its upstream limits the rate of requests or is overloaded; undefined for other errors. */
  | { error: RouterError; refusedFor?: string };

/**
 * Receives the answer of a request that is not streamed. An answer that is not a JSON object becomes an error: a worker may send anything,
 * and the file of results would be unreadable from such a line on.
 */
export class AnswerSink implements ModelSink {
  /** Never settles if the request is cancelled. */
  readonly answer: Promise<Answer>;
  readonly relayedTokens = 0;
  readonly #resolve: (answer: Answer) => void;
  readonly #memory: Pick<LineMemory, 'reserveAnswer'>;

  readonly hold: (bytes: number) => void;

  /**
   * @param memory reserves the memory of the answer
   * @param hold see `ModelSink.hold`
   */
  constructor(memory: Pick<LineMemory, 'reserveAnswer'>, hold: (bytes: number) => void) {
    this.#memory = memory;
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
    try {
      this.#memory.reserveAnswer(bytes.length);
      const answer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (!isJsonObjectText(answer)) throw new RouterError('upstream_failed', 'The answer could not be read.');
      this.#resolve({ text: answer.toString() });
    } catch (error) {
      this.#resolve({ error: toRouterError(error) });
    }
  }

  fail(error: RouterError): void {
    this.#resolve({ error });
  }
}
