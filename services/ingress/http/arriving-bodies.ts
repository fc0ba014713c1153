import type { Request, RequestHandler } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** Bytes of a request besides its body, with its connection. */
const requestBytes = 16 * 1024;

/** One in so many bytes of the memory limit is for bodies that arrive here, and so many bytes at most. */
const memoryParts = 32;
const maxBytesOfAll = 32 * 1024 * 1024;

/**
 * Bounds the memory of bodies that are received without a key: of people who sign in, and of those who administer. Each counts with its
 * declared length until it is whole; a compressed body counts with the maximum. When all take too much, the one that has been arriving for
 * longest is disconnected, so that whoever sends quickly does not wait for who sends slowly. A body without a length is refused: each of its
 * chunks may have a single byte and takes some 200 bytes.
 */
export class ArrivingBodies {
  readonly #maxBytes: number;
  /** By request, the one that came first first. */
  readonly #arriving = new Map<Request, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Creates the handler that comes before one that reads a body. @param maxBytes the maximum that this one reads */
  within(maxBytes: number): RequestHandler {
    return (request, response, next) => {
      const { 'content-length': length, 'transfer-encoding': transfer, 'content-encoding': encoding } = request.headers;
      if (transfer !== undefined) return next(noLength());
      if (length === undefined) return next();
      const bytes = encoding === undefined ? Math.min(Number(length), maxBytes) : maxBytes;
      this.#add(request, requestBytes + bytes);
      const remove = (): void => this.#remove(request);
      request.once('end', remove);
      // Of one that is refused, the rest is thrown away as it comes.
      response.once('close', remove);
      next();
    };
  }

  #add(request: Request, bytes: number): void {
    this.#arriving.set(request, bytes);
    this.#bytes += bytes;
    for (const oldest of this.#arriving.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === request) break;
      this.#remove(oldest);
      oldest.destroy();
    }
  }

  #remove(request: Request): void {
    this.#bytes -= this.#arriving.get(request) ?? 0;
    this.#arriving.delete(request);
  }
}

function noLength(): RouterError {
  return new RouterError('invalid_request', 'A request to this path needs a Content-Length.');
}

/**
 * The bytes that bodies without a key may have together.
 * @param memoryBytes the container's limit; 0 without one
 */
export function arrivingBytes(memoryBytes: number): number {
  return Math.min(maxBytesOfAll, computeMemoryShare(memoryParts, memoryBytes));
}
