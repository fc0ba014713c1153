import type { NextFunction, Request, Response } from 'express';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Counts the requests whose answer is not completely sent, and waits for them in a drain. */
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

  /** Counts every request. Mount it before all other handlers. */
  readonly follow = (request: Request, response: Response, next: NextFunction): void => {
    const { socket } = request;
    this.#count += 1;
    this.#bySocket.set(socket, response);
    response.on('close', () => {
      this.#count -= 1;
      // A response references its whole request, and a keep-alive connection may stay idle for long.
      if (this.#bySocket.get(socket) === response) this.#bySocket.delete(socket);
      if (this.#count === 0) this.#onNone?.();
    });
    if (this.#draining) response.setHeader('connection', 'close');
    next();
  };

  /** Whether an answer on this connection has begun and is not complete. */
  isAnswering(socket: Duplex): boolean {
    const response = this.#bySocket.get(socket);
    return response !== undefined && response.headersSent && !response.closed;
  }

  /** Closes every connection after its answer from now on. Resolves when no request is open, or after `ms` milliseconds. */
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
