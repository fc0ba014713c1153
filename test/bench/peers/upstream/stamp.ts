/**
 * A time inside a streamed text: `@@` and microseconds in 16 digits. Every process of a machine reads the same clock (CLOCK_MONOTONIC), so
 * the client can compute how long a text was on its way. The first text of a stream has three stamps: when the upstream had received the
 * request, when it wrote the beginning of the answer, and when it wrote this text.
 */
export const stampMark = '@@';
export const stampDigits = 16;
export const stampLength = stampMark.length + stampDigits;

/** A stamp that counts as a text without a time: for floods, whose bytes are made in advance. */
export const noTime = stampMark + '0'.repeat(stampDigits);

/** Returns the microseconds of the clock that all processes of this machine share. */
export function clockUs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + Math.floor(nanoseconds / 1e3);
}

export function stamp(us: number): string {
  return stampMark + String(us).padStart(stampDigits, '0');
}

const mark = Buffer.from(stampMark);

/** Finds the stamps in the pieces of a body, wherever they are cut. */
export class StampReader {
  readonly #onStamp: (us: number) => void;
  /** The end of the last piece, in which a stamp may begin. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(onStamp: (us: number) => void) {
    this.#onStamp = onStamp;
  }

  push(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let from = 0;
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, from)) {
      from = at;
      if (bytes.length < at + stampLength) break;
      this.#onStamp(Number(bytes.toString('latin1', at + stampMark.length, at + stampLength)));
      from = at + stampLength;
    }
    this.#rest = Buffer.from(bytes.subarray(Math.max(from, bytes.length - stampLength + 1)));
  }
}
