import { RouterError } from '#shared/core/errors.ts';
import { hash } from 'node:crypto';

export interface TextLine {
  bytes: Buffer;
  /** Offset of the line's first byte in the text. */
  from: number;
  /** Offset of the byte after the line's line feed. */
  to: number;
  /** Line number, counted from 1 at the first piece. Blank lines count too. */
  number: number;
}

/** A listener that is called for a large line before the whole line is in memory. */
export interface LargeLines {
  /** Minimum bytes of a large line. */
  from: number;
  /** Called with the line's number when `from` bytes of the line have been read. The rest is read after the promise resolves. */
  onBegin: (number: number) => Promise<unknown>;
}

const lineFeed = 0x0a;

/** Tab, carriage return and space. A line with no other bytes is blank. */
const blanks: ReadonlySet<number> = new Set([0x09, 0x0d, 0x20]);

/** The byte order mark that some editors write at the start of a UTF-8 text. */
const byteOrderMark = Buffer.from('\uFEFF');

/**
 * Yields the lines of a text that arrives in pieces. Skips blank lines and a byte order mark at the start of the text. Keeps at most one
 * line in memory besides the current piece.
 * @param maxBytes maximum bytes of a line
 * @param start offset of the first piece in the text
 * @param largeLines the listener for large lines
 * @throws RouterError `body_too_large` for a longer line
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
  start = 0,
  largeLines?: LargeLines,
): AsyncGenerator<TextLine> {
  let lineParts: Uint8Array[] = [];
  let lineBytes = 0;
  let isLarge = false;
  let from = start;
  let number = 0;
  const addToLine = (bytes: Uint8Array): void => {
    lineBytes += bytes.length;
    if (lineBytes > maxBytes) throw new RouterError('body_too_large', `A line is larger than ${maxBytes} bytes.`);
    lineParts.push(bytes);
  };
  const endLine = (lineFeedBytes: number): TextLine => {
    // The bytes are always copied. A line without a copy would keep its whole piece in memory, which is much larger than most lines.
    let bytes = Buffer.concat(lineParts);
    if (from === 0 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
      bytes = bytes.subarray(byteOrderMark.length);
      from = byteOrderMark.length;
    }
    number += 1;
    const line = { bytes, from, to: from + bytes.length + lineFeedBytes, number };
    from = line.to;
    lineParts = [];
    lineBytes = 0;
    isLarge = false;
    return line;
  };
  for await (const piece of pieces) {
    let at = 0;
    for (let feedAt = piece.indexOf(lineFeed); feedAt !== -1; feedAt = piece.indexOf(lineFeed, at)) {
      addToLine(piece.subarray(at, feedAt));
      at = feedAt + 1;
      const line = endLine(1);
      if (!isBlank(line.bytes)) yield line;
    }
    if (at < piece.length) addToLine(piece.subarray(at));
    if (!largeLines || isLarge || lineBytes < largeLines.from) continue;
    isLarge = true;
    await largeLines.onBegin(number + 1);
  }
  if (lineBytes === 0) return;
  const last = endLine(0);
  if (!isBlank(last.bytes)) yield last;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => blanks.has(byte));
}

/** Length above which an id is replaced by its hash, because a hundred thousand ids may be in memory at once. */
const maxKeptLength = 64;

/** The ids that the lines of a batch have (`custom_id`). Each must be the only one. */
export class CustomIds {
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  /** Adds the id of a line. Returns whether no earlier line has it. */
  add(id: string): boolean {
    const { size } = this.#ids;
    this.#ids.add(id.length <= maxKeptLength ? id : hash('sha256', id, 'base64'));
    return this.#ids.size > size;
  }
}
