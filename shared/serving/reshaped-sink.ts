import { RouterError } from '#shared/core/errors.ts';
import type { ServedJob } from '#shared/broker/dispatch/job-sink.ts';
import type { MemoryBound, ModelSink } from './serve-model.ts';

/** Converts an answer to another shape. Returns undefined if the answer lacks content that the shape requires. */
type AnswerShape = (answer: Buffer) => Buffer | undefined;

/** Converts an answer to another shape and passes it on. The answer must not be streamed. */
export class ReshapedSink implements ModelSink {
  readonly #sink: ModelSink;
  readonly #reshape: AnswerShape;

  constructor(sink: ModelSink, reshape: AnswerShape) {
    this.#sink = sink;
    this.#reshape = reshape;
  }

  get relayedTokens(): number {
    return this.#sink.relayedTokens;
  }

  begin(job: ServedJob): void {
    this.#sink.begin(job);
  }

  data(bytes: Uint8Array): void {
    this.#sink.data(bytes);
  }

  keepBody(): void {
    this.#sink.keepBody?.();
  }

  hold(bytes: number, bound: MemoryBound): void {
    this.#sink.hold?.(bytes, bound);
  }

  keepAlive(): void {
    this.#sink.keepAlive();
  }

  end(bytes: Uint8Array): void {
    const reshaped = this.#reshape(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (reshaped) this.#sink.end(reshaped);
    else this.#sink.fail(new RouterError('upstream_failed', 'The answer of the upstream lacks the requested content.'));
  }

  fail(error: RouterError): void {
    this.#sink.fail(error);
  }
}
