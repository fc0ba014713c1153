import { RouterError } from '#shared/core/errors.ts';
import { startBytes } from './mime-type-of.ts';

/** Bytes that are reserved at once, so that Redis is asked once for each few mebibytes of an upload. */
const stepBytes = 4 * 1024 * 1024;

const lineFeed = 0x0a;

/** Reserves further bytes of an upload. @throws RouterError `storage_quota_exceeded`, `storage_full`, `store_unavailable` */
export type ReserveBytes = (bytes: number) => Promise<void>;

/** Passes an upload on, within what it may take, and notes what is known of it at its end. */
export class UploadMeter {
  readonly #maxBytes: number;
  readonly #reserve: ReserveBytes;
  readonly #start: Buffer = Buffer.alloc(startBytes);
  #reserved: number;
  #bytes = 0;
  #lines = 0;
  #last = lineFeed;

  /** @param reserved bytes that are reserved already */
  constructor(maxBytes: number, reserved: number, reserve: ReserveBytes) {
    this.#maxBytes = maxBytes;
    this.#reserved = reserved;
    this.#reserve = reserve;
  }

  /** The first bytes, for the type of the file. */
  get start(): Uint8Array {
    return this.#start.subarray(0, Math.min(this.#bytes, startBytes));
  }

  /** Lines so far. The last one need not end with a line feed. */
  get lines(): number {
    return this.#last === lineFeed ? this.#lines : this.#lines + 1;
  }

  /** @throws RouterError `body_too_large`, or as `ReserveBytes` does */
  async *pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      if (this.#bytes < startBytes) this.#start.set(piece.subarray(0, startBytes - this.#bytes), this.#bytes);
      this.#bytes += piece.length;
      if (this.#bytes > this.#maxBytes)
        throw new RouterError('body_too_large', `The file is larger than ${this.#maxBytes} bytes.`);
      if (this.#bytes > this.#reserved) await this.#reserveMore();
      this.#countLines(piece);
      yield piece;
    }
  }

  /** Reserves a step, and where that is too much, just what is here. */
  async #reserveMore(): Promise<void> {
    const missing = this.#bytes - this.#reserved;
    const step = Math.max(missing, stepBytes);
    try {
      await this.#reserve(step);
      this.#reserved += step;
    } catch (error) {
      const isTooMuch = error instanceof RouterError && error.code !== 'store_unavailable';
      if (!isTooMuch || step === missing) throw error;
      await this.#reserve(missing);
      this.#reserved += missing;
    }
  }

  #countLines(piece: Uint8Array): void {
    for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) this.#lines += 1;
    this.#last = piece.at(-1) ?? this.#last;
  }
}
