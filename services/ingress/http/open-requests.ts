import type { NextFunction, Request, Response } from 'express';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Milliseconds after an answer for which a drain waits for the next request on the same connection, because the client may have sent it
 * before it received `connection: close`.
 */
const nextRequestMs = 250;

const lastResponse = Symbol('last response');

interface ClientSocket extends Duplex {
  /** The response to the last request of the connection, until it closes. */
  [lastResponse]?: ServerResponse | undefined;
}

/** Counts the requests with answers that are not completely sent. A drain waits for them. */
export class OpenRequests {
  readonly #open = new Set<ServerResponse>();
  #closedAt = -Infinity;
  #onChange: (() => void) | undefined;
  #isLeaving = false;

  get count(): number {
    return this.#open.size;
  }

  /** Whether the ingress sends clients and load balancers to other nodes. Requests that still arrive are served. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Handler that counts every request. Mount it before all other handlers. */
  readonly track = (request: Request, response: Response, next: NextFunction): void => {
    const socket: ClientSocket = request.socket;
    this.#open.add(response);
    socket[lastResponse] = response;
    this.#onChange?.();
    response.on('close', () => {
      this.#open.delete(response);
      this.#closedAt = performance.now();
      // A response references its whole request, which would stay in memory while a keep-alive connection is idle.
      if (socket[lastResponse] === response) socket[lastResponse] = undefined;
      this.#onChange?.();
    });
    if (this.#isLeaving) response.setHeader('connection', 'close');
    next();
  };

  /**
   * Counts a response that has no connection.
   * @returns a function that stops counting it
   */
  trackDetached(response: ServerResponse): () => void {
    this.#open.add(response);
    return () => {
      this.#open.delete(response);
      this.#onChange?.();
    };
  }

  /** Whether the answer to a request of this connection is not complete. */
  hasOpen(socket: ClientSocket): boolean {
    return socket[lastResponse] !== undefined;
  }

  /** Whether an answer on this connection has begun and is not complete. */
  isAnswering(socket: ClientSocket): boolean {
    const response = socket[lastResponse];
    return response !== undefined && response.headersSent && !response.closed;
  }

  /** Adds `connection: close` to every answer that has not begun, and to every later one. */
  startLeaving(): void {
    this.#isLeaving = true;
    for (const response of this.#open) if (!response.headersSent) response.setHeader('connection', 'close');
  }

  /**
   * Resolves when no request is open and no further request has arrived on a connection that was just in use, or after `ms` milliseconds.
   */
  async drain(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let quietTimer: NodeJS.Timeout | undefined;
    this.#onChange = () => {
      clearTimeout(quietTimer);
      if (this.#open.size > 0) return;
      const waitMs = this.#closedAt + nextRequestMs - performance.now();
      if (waitMs <= 0) resolve();
      else quietTimer = setTimeout(resolve, waitMs);
    };
    const timer = setTimeout(resolve, ms);
    this.#onChange();
    await promise;
    this.#onChange = undefined;
    clearTimeout(quietTimer);
    clearTimeout(timer);
  }
}
