import { RouterError } from '#shared/core/errors.ts';

/** Collects the bytes of a body up to a limit. */
export class AnswerBody {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws RouterError `upstream_failed` when the body outgrows the limit */
  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limit) throw new RouterError('upstream_failed', "The upstream's answer is too long.");
    this.#chunks.push(chunk);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
