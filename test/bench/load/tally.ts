import type { LoadResult } from './load.ts';
import type { Timing } from './load-connection.ts';

/** Adds up the results of an order's requests. */
export class Tally {
  readonly #startedAt = performance.now();
  readonly #first: number[] = [];
  readonly #total: number[] = [];
  readonly #failures: Record<string, number> = {};
  readonly #there: number[] = [];
  readonly #byte: number[] = [];
  readonly #text: number[] = [];
  readonly #token: number[] = [];
  #texts = 0;

  add({ firstMs, totalMs, stamps }: Timing): void {
    this.#first.push(firstMs);
    this.#total.push(totalMs);
    if (stamps.texts === 0) return;
    this.#texts += stamps.texts;
    this.#there.push(stamps.there);
    this.#byte.push(stamps.byte);
    this.#text.push(stamps.text);
    for (const delay of stamps.tokens) this.#token.push(delay);
  }

  /** Adds a request whose answer was not waited for. */
  addOpened(firstMs: number): void {
    this.#first.push(firstMs);
    this.#total.push(firstMs);
  }

  fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
  }

  result(): LoadResult {
    return {
      requests: this.#first.length,
      seconds: (performance.now() - this.#startedAt) / 1000,
      failures: this.#failures,
      firstMs: Float64Array.from(this.#first),
      totalMs: Float64Array.from(this.#total),
      delays: {
        there: Float64Array.from(this.#there),
        byte: Float64Array.from(this.#byte),
        text: Float64Array.from(this.#text),
        token: Float64Array.from(this.#token),
      },
      texts: this.#texts,
    };
  }
}
