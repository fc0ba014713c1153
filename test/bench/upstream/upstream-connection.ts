import type { Socket } from 'node:net';
import { RequestReader, type ReadRequest } from '../peers/upstream/request-reader.ts';
import { readPace, type Pace } from '../load/pace.ts';
import { upstreamModel, wholeAnswer, streamHead, streamPiece, streamTail } from './upstream-bytes.ts';

/** One connection to the fake upstream: requests come one after the other, each with a content-length or no body. */
export class UpstreamConnection {
  readonly #socket: Socket;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new RequestReader((request) => this.#answer(request));
    socket.on('data', (bytes: Buffer) => reader.push(bytes));
    socket.on('close', () => clearTimeout(this.#timer));
    // A client that leaves in the middle of an answer resets the connection; `close` follows.
    socket.on('error', () => socket.destroy());
  }

  #answer({ line, body }: ReadRequest): void {
    switch (line) {
      case 'POST /v1/chat/completions':
        return this.#complete(body);
      case 'GET /v1/models':
        return this.#json({ object: 'list', data: [{ id: upstreamModel, object: 'model', owned_by: 'vllm' }] });
      case 'GET /health':
        return this.#json({});
      default:
        this.#socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    }
  }

  #json(value: object): void {
    const text = JSON.stringify(value);
    this.#socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }

  #complete(body: Buffer): void {
    const { stream, ...pace } = readPace(body);
    const begin = (): void => {
      if (stream) this.#stream(pace);
      else this.#socket.write(wholeAnswer);
    };
    if (pace.firstMs === 0) begin();
    else this.#timer = setTimeout(begin, pace.firstMs);
  }

  #stream({ tokens, everyMs }: Pace): void {
    // An engine sends the role and the first token as soon as it has the first token.
    this.#socket.write(streamHead);
    if (everyMs === 0) {
      for (let sent = 1; sent < tokens; sent += 1) this.#socket.write(streamPiece(sent));
      this.#socket.write(streamTail);
      return;
    }
    let sent = 1;
    const beganAt = performance.now();
    const next = (): void => {
      if (sent < tokens) {
        this.#socket.write(streamPiece(sent));
        sent += 1;
        // Counted from the stream's beginning: streams whose tokens are late together would else go in step ever after.
        this.#timer = setTimeout(next, Math.max(0, beganAt + sent * everyMs - performance.now()));
      } else {
        this.#socket.write(streamTail);
      }
    };
    this.#timer = setTimeout(next, everyMs);
  }
}
