import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { BoundedResponse } from '../http/unread/bounded-response.ts';
import type { UnreadOutputs } from '../http/unread/unread-outputs.ts';

/** The client whose request is executed. It gets the answer as it is produced, until it disconnects. */
export class AttachedClient {
  readonly #response: ServerResponse;
  readonly #output: BoundedResponse;

  constructor(response: ServerResponse, unread: UnreadOutputs) {
    this.#response = response;
    // A client that reads too slowly is disconnected, as if it had left by itself. The answer may continue without the client.
    this.#output = new BoundedResponse(response, unread, () => void response.destroy());
  }

  begin(status: number, headers: OutgoingHttpHeaders): void {
    if (this.#response.destroyed || this.#response.headersSent) return;
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) this.#response.setHeader(name, value);
    }
    this.#response.writeHead(status);
  }

  data(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#output.write(bytes);
  }

  end(): void {
    this.#output.end('');
  }

  abort(): void {
    this.#response.destroy();
  }
}
