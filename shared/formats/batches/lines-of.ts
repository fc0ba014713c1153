import { RouterError } from '#shared/core/errors.ts';

/** One line of a text, without its end. */
export interface TextLine {
  bytes: Buffer;
  /** Position of its first byte in the text, and of the one behind its end. */
  from: number;
  to: number;
  /** Counted from 1, blank lines too, where the pieces begin. */
  number: number;
}

const lineFeed = 0x0a;

/** Tab, carriage return and space: what a line has that counts as blank. */
const blanks: ReadonlySet<number> = new Set([0x09, 0x0d, 0x20]);

/** What some editors write before a text in UTF-8. */
const byteOrderMark = Buffer.from('\uFEFF');

/**
 * The lines of a text that comes in pieces, without blank ones and without the mark of a byte order at its beginning. One line is in
 * memory at a time, besides the pieces.
 * @param mostBytes of one line
 * @param start position of the first piece in the text
 * @throws RouterError `body_too_large` for a longer line
 */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  mostBytes: number,
  start = 0,
): AsyncGenerator<TextLine> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  let from = start;
  let number = 0;
  const take = (rest: Uint8Array): void => {
    begunBytes += rest.length;
    if (begunBytes > mostBytes) throw new RouterError('body_too_large', `A line is larger than ${mostBytes} bytes.`);
    begun.push(Buffer.from(rest));
  };
  const end = (length: number): TextLine => {
    let bytes = begun.length === 1 && begun[0] ? begun[0] : Buffer.concat(begun);
    if (from === 0 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
      bytes = bytes.subarray(byteOrderMark.length);
      from = byteOrderMark.length;
    }
    number += 1;
    const line = { bytes, from, to: from + bytes.length + length, number };
    from = line.to;
    begun = [];
    begunBytes = 0;
    return line;
  };
  for await (const piece of pieces) {
    let at = 0;
    for (let next = piece.indexOf(lineFeed); next !== -1; next = piece.indexOf(lineFeed, at)) {
      take(piece.subarray(at, next));
      at = next + 1;
      const line = end(1);
      if (!isBlank(line.bytes)) yield line;
    }
    if (at < piece.length) take(piece.subarray(at));
  }
  if (begunBytes === 0) return;
  const last = end(0);
  if (!isBlank(last.bytes)) yield last;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => blanks.has(byte));
}
