import { RouterError } from '#shared/core/errors.ts';
import { typeBytes } from './detect-mime-type.ts';

/** Maximum bytes that one step reserves, so that Redis is called only once for every few mebibytes of an upload. */
const maxStepBytes = 4 * 1024 * 1024;

/** Minimum bytes that one step of a sparing upload reserves. Each of its steps is a quarter of what has arrived. */
const minStepBytes = 16 * 1024;

const lineFeed = 0x0a;

/**
 * Reserves room for further bytes of an upload.
 * @throws RouterError `storage_quota_exceeded`, `storage_full`, `store_unavailable`
 */
export type ReserveBytes = (bytes: number) => Promise<void>;

export interface UploadMeterOptions {
  maxBytes: number;
  /** Bytes that were reserved before the first byte arrives. */
  reserved: number;
  /**
   * Whether to reserve little more than has arrived. Results are reserved in this way, because many of them are stored at once and most are
   * small. Other uploads of unknown size reserve more in advance. So if there is too little room for several such uploads, the first upload
   * can still be completed.
   */
  isSparing: boolean;
  reserve: ReserveBytes;
}

/** Passes an upload on unchanged, up to its maximum size, and counts its bytes and lines. */
export class UploadMeter {
  readonly #maxBytes: number;
  readonly #isSparing: boolean;
  readonly #reserve: ReserveBytes;
  readonly #start: Buffer = Buffer.alloc(typeBytes);
  #reserved: number;
  #bytes = 0;
  #lines = 0;
  #lastByte = lineFeed;

  constructor({ maxBytes, reserved, isSparing, reserve }: UploadMeterOptions) {
    this.#maxBytes = maxBytes;
    this.#reserved = reserved;
    this.#isSparing = isSparing;
    this.#reserve = reserve;
  }

  /** The first bytes, from which the type of the file is detected. */
  get start(): Uint8Array {
    return this.#start.subarray(0, Math.min(this.#bytes, typeBytes));
  }

  /** Number of lines so far. The last line need not end with a line feed. */
  get lines(): number {
    return this.#lastByte === lineFeed ? this.#lines : this.#lines + 1;
  }

  /**
   * Passes on the pieces of a body and reserves room for them.
   * @throws RouterError `body_too_large`, or as `ReserveBytes` does
   */
  async *pass(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      if (this.#bytes < typeBytes) this.#start.set(piece.subarray(0, typeBytes - this.#bytes), this.#bytes);
      this.#bytes += piece.length;
      if (this.#bytes > this.#maxBytes)
        throw new RouterError('body_too_large', `The file is larger than ${this.#maxBytes} bytes.`);
      if (this.#bytes > this.#reserved) await this.#reserveMore();
      this.#countLines(piece);
      yield piece;
    }
  }

  /** Reserves room for a step. If there is too little room for the step, reserves only room for what has arrived. */
  async #reserveMore(): Promise<void> {
    const missing = this.#bytes - this.#reserved;
    const growingStep = Math.min(maxStepBytes, Math.max(minStepBytes, Math.floor(this.#bytes / 4)));
    const step = Math.max(missing, this.#isSparing ? growingStep : maxStepBytes);
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
    this.#lastByte = piece.at(-1) ?? this.#lastByte;
  }
}
