const headEnd = Buffer.from('\r\n\r\n');

export interface ReadRequest {
  line: string;
  body: Buffer;
}

/** Reads requests from the bytes of one connection, one after the other; joins a large body once, when all of it is there. */
export class RequestReader {
  readonly #onRequest: (request: ReadRequest) => void;
  #parts: Buffer[] = [];
  #received = 0;
  #line = '';
  /** Bytes of head and body of the current request; 0 while its head is incomplete. */
  #wanted = 0;
  #headBytes = 0;

  constructor(onRequest: (request: ReadRequest) => void) {
    this.#onRequest = onRequest;
  }

  /** @throws Error for a body without a content-length */
  push(bytes: Buffer): void {
    this.#parts.push(bytes);
    this.#received += bytes.length;
    while (this.#received > 0) {
      if (this.#wanted === 0 && !this.#readHead()) return;
      if (this.#received < this.#wanted) return;
      const all = this.#join();
      const end = this.#wanted;
      this.#parts = all.length > end ? [all.subarray(end)] : [];
      this.#received = all.length - end;
      this.#wanted = 0;
      this.#onRequest({ line: this.#line, body: all.subarray(this.#headBytes, end) });
    }
  }

  #readHead(): boolean {
    const all = this.#join();
    this.#parts = [all];
    const length = all.indexOf(headEnd);
    if (length < 0) return false;
    const head = all.toString('latin1', 0, length);
    if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('the body of a request has no content-length');
    this.#line = head.slice(0, head.indexOf(' HTTP/'));
    this.#headBytes = length + headEnd.length;
    this.#wanted = this.#headBytes + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    return true;
  }

  #join(): Buffer {
    const [first] = this.#parts;
    return this.#parts.length === 1 && first ? first : Buffer.concat(this.#parts);
  }
}
