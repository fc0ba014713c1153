const carriageReturn = 0x0d;
const newline = 0x0a;
const lineEnd = '\r\n';
const headEnd = Buffer.from('\r\n\r\n');
const tailBytes = 64;

/**
 * Reads HTTP/1.1 answers from the bytes of one connection at the lowest cost: only lengths are read, not text.
 *
 * States: `head` → `body` (content-length) → `done`, or, with transfer-encoding chunked, `size` ⇄ `chunk`, then `end` (the line end after
 * the last size) → `done`.
 */
export class AnswerReader {
  status = 0;
  /** Bytes of the body so far, without chunk sizes. */
  bodyBytes = 0;
  #state: 'head' | 'body' | 'size' | 'chunk' | 'end' | 'done' = 'head';
  #head: Buffer = Buffer.alloc(0);
  /** Bytes until the end of the body or of the chunk with its line end. */
  #left = 0;
  #size = 0;
  /** The last bytes of the body, to check how it ended. */
  #tail: Buffer = Buffer.alloc(0);
  readonly #onBody: ((piece: Buffer) => void) | undefined;

  /** @param onBody called with every piece of a body, without chunk sizes */
  constructor(onBody?: (piece: Buffer) => void) {
    this.#onBody = onBody;
  }

  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** The end of the body as text: at least its last 64 bytes. */
  get tail(): string {
    return this.#tail.toString();
  }

  reset(): void {
    this.#state = 'head';
    this.status = 0;
    this.bodyBytes = 0;
    this.#tail = Buffer.alloc(0);
  }

  push(bytes: Buffer): void {
    let position = 0;
    while (position < bytes.length && this.#state !== 'done') {
      switch (this.#state) {
        case 'head':
          position = this.#readHead(bytes);
          break;
        case 'body':
        case 'chunk':
        case 'end':
          position = this.#readBody(bytes, position);
          break;
        case 'size':
          position = this.#readSize(bytes, position);
          break;
      }
    }
  }

  #readHead(bytes: Buffer): number {
    const before = this.#head.length;
    const all = before === 0 ? bytes : Buffer.concat([this.#head, bytes]);
    const end = all.indexOf(headEnd);
    if (end < 0) {
      this.#head = all;
      return bytes.length;
    }
    this.#head = Buffer.alloc(0);
    const head = all.toString('latin1', 0, end);
    this.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#left = Number(length ?? 0);
    this.#size = 0;
    if (length === undefined) this.#state = 'size';
    else this.#state = this.#left === 0 ? 'done' : 'body';
    return end + headEnd.length - before;
  }

  #readBody(bytes: Buffer, position: number): number {
    const end = Math.min(bytes.length, position + this.#left);
    const notOfBody = this.#state === 'body' ? 0 : lineEnd.length;
    const ofBody = Math.min(end - position, Math.max(0, this.#left - notOfBody));
    if (ofBody > 0) {
      this.bodyBytes += ofBody;
      const piece = bytes.subarray(position, position + ofBody);
      this.#tail = ofBody < tailBytes ? Buffer.concat([this.#tail.subarray(-tailBytes), piece]) : piece;
      this.#onBody?.(piece);
    }
    this.#left -= end - position;
    if (this.#left === 0) this.#state = this.#state === 'chunk' ? 'size' : 'done';
    return end;
  }

  /** Reads a chunk's size, a hexadecimal line. The size 0 is the last, followed by an empty line. */
  #readSize(bytes: Buffer, from: number): number {
    for (let position = from; position < bytes.length; position += 1) {
      const byte = bytes[position] ?? 0;
      if (byte === carriageReturn) continue;
      if (byte !== newline) {
        this.#size = this.#size * 16 + Number.parseInt(String.fromCharCode(byte), 16);
        continue;
      }
      if (this.#size === 0) {
        this.#left = lineEnd.length;
        this.#state = 'end';
      } else {
        this.#left = this.#size + lineEnd.length;
        this.#state = 'chunk';
      }
      this.#size = 0;
      return position + 1;
    }
    return bytes.length;
  }
}
