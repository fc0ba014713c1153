import type { NextFunction, Request, Response } from 'express';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The requests whose answers have not left to the last byte yet. */
export class OpenRequests {
  #count = 0;
  readonly #bySocket = new WeakMap<Duplex, ServerResponse>();
  #onNone: (() => void) | undefined;
  #draining = false;

  get count(): number {
    return this.#count;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Follows every request; comes before all other handlers. */
  readonly follow = (request: Request, response: Response, next: NextFunction): void => {
    const { socket } = request;
    this.#count += 1;
    this.#bySocket.set(socket, response);
    response.on('close', () => {
      this.#count -= 1;
      // A response holds all that was known of its request, and a connection may rest for long before the next one.
      if (this.#bySocket.get(socket) === response) this.#bySocket.delete(socket);
      if (this.#count === 0) this.#onNone?.();
    });
    if (this.#draining) response.setHeader('connection', 'close');
    next();
  };

  /** Whether a part of an answer has left on this connection and the rest has not. */
  isAnswering(socket: Duplex): boolean {
    const response = this.#bySocket.get(socket);
    return response !== undefined && response.headersSent && !response.closed;
  }

  /** From now on connections are closed behind their answers; waits for those, for at most this many milliseconds. */
  async drain(ms: number): Promise<void> {
    this.#draining = true;
    if (this.#count === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onNone = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }
}
