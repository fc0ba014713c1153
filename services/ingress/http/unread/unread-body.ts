import type { ServerResponse } from 'node:http';
import { unreadMs, type UnreadOutput, type UnreadOutputs } from './unread-outputs.ts';

/**
 * The body of an answer that a library writes as a web stream. The library does not adapt to the client's speed, so the body is read at
 * once and waits here, where it counts as unread. If the unread bytes exceed the bounds, the client is disconnected, because only the
 * library could end the answer with an error.
 */
export class UnreadBody implements UnreadOutput {
  /** The same body, as a stream whose pieces are taken only as fast as the client reads them. */
  readonly stream: ReadableStream<Uint8Array>;
  readonly #response: ServerResponse;
  readonly #outputs: UnreadOutputs;
  readonly #source: ReadableStreamDefaultReader<Uint8Array>;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #isEnding = false;
  #arrival = Promise.withResolvers<void>();

  constructor(body: ReadableStream<Uint8Array>, response: ServerResponse, outputs: UnreadOutputs) {
    this.#response = response;
    this.#outputs = outputs;
    this.#source = body.getReader();
    this.stream = new ReadableStream(
      { pull: (controller) => this.#pull(controller), cancel: (reason) => this.#source.cancel(reason) },
      { highWaterMark: 0 },
    );
    response.once('close', () => {
      this.#drop();
      outputs.count(this);
      this.#source.cancel().catch((error: unknown) => this.#arrival.reject(error));
    });
    this.#arrival.promise.catch(() => undefined);
    void this.#readAll();
  }

  get unreadBytes(): number {
    const { destroyed, writableLength } = this.#response;
    return destroyed ? 0 : this.#bytes + writableLength;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  giveUp(): void {
    this.#drop();
    this.#response.destroy();
  }

  async #readAll(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#source.read();
        if (done) break;
        if (this.#response.destroyed) continue;
        this.#pieces.push(value);
        this.#bytes += value.length;
        this.#arrival.resolve();
        this.#outputs.count(this);
      }
      this.#isEnding = true;
      if (this.unreadBytes > 0) this.#response.setTimeout(unreadMs, () => this.#response.destroy());
      this.#arrival.resolve();
    } catch (error) {
      this.#arrival.reject(error);
    }
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece) {
        this.#bytes -= piece.length;
        controller.enqueue(piece);
        return this.#outputs.count(this);
      }
      if (this.#isEnding) return controller.close();
      await this.#arrival.promise;
      this.#arrival = Promise.withResolvers();
      this.#arrival.promise.catch(() => undefined);
    }
  }

  #drop(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}
