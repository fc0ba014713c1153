import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { AnswerListener } from './exchange.ts';
import { createErrorBody } from './whole-listener.ts';

/** Receives an answer of plain bytes, such as sound, and passes it on as it arrives. */
export class BytesListener implements AnswerListener {
  readonly #upstream: HttpUpstreamFormat;
  readonly #head: (headers: Record<string, string>) => void;
  readonly #write: (piece: Uint8Array) => void;
  readonly #errorBody = createErrorBody();
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #byteCount = 0;

  /** @param head called before the first bytes, with the content type of the answer */
  constructor(
    upstream: HttpUpstreamFormat,
    head: (headers: Record<string, string>) => void,
    write: (piece: Uint8Array) => void,
  ) {
    this.#upstream = upstream;
    this.#head = head;
    this.#write = write;
  }

  onStart(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (status === 200) this.#head({ 'content-type': headers['content-type'] ?? 'application/octet-stream' });
  }

  onData(chunk: Buffer): 'nothing' | 'more' {
    if (this.#status !== 200) {
      this.#errorBody.add(chunk);
      return 'nothing';
    }
    this.#byteCount += chunk.length;
    // The piece may wait, but the memory of the chunk belongs to the connection, so the chunk is copied.
    this.#write(Buffer.from(chunk));
    return 'more';
  }

  /**
   * Checks the answer after all of it has arrived.
   * @throws RouterError for an answer that is an error; for an empty answer unless `mayBeEmpty`
   */
  end(mayBeEmpty = false): void {
    if (this.#status !== 200) throw this.#upstream.readError(this.#status, this.#errorBody.text(), this.#headers);
    if (this.#byteCount === 0 && !mayBeEmpty)
      throw new RouterError('upstream_failed', 'The upstream sent an answer without content.');
  }
}
