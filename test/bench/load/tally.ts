import type { LoadResult } from './load.ts';
import type { Timing } from './load-connection.ts';

export class Tally {
  readonly #startedAt = performance.now();
  readonly #ms = { first: [] as number[], total: [] as number[] };
  readonly #delays = { there: [] as number[], byte: [] as number[], text: [] as number[], token: [] as number[] };
  readonly #failures: Record<string, number> = {};
  #texts = 0;

  add({ firstMs, totalMs, stamps }: Timing): void {
    this.addOpened(firstMs, totalMs);
    if (stamps.texts === 0) return;
    this.#texts += stamps.texts;
    for (const name of ['there', 'byte', 'text'] as const) this.#delays[name].push(stamps[name]);
    for (const delay of stamps.tokens) this.#delays.token.push(delay);
  }

  /** Adds a request whose answer was not waited for. */
  addOpened(firstMs: number, totalMs = firstMs): void {
    this.#ms.first.push(firstMs);
    this.#ms.total.push(totalMs);
  }

  fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
  }

  result(): LoadResult {
    const { there, byte, text, token } = this.#delays;
    const of = (values: number[]): Float64Array => Float64Array.from(values);
    return {
      requests: this.#ms.first.length,
      seconds: (performance.now() - this.#startedAt) / 1000,
      failures: this.#failures,
      firstMs: of(this.#ms.first),
      totalMs: of(this.#ms.total),
      delays: { there: of(there), byte: of(byte), text: of(text), token: of(token) },
      texts: this.#texts,
    };
  }
}
