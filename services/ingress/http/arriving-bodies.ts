import type { Request, RequestHandler } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** Bytes of memory of a request and its connection, without the body. */
const requestBytes = 16 * 1024;

/** The bodies that arrive here may use one part of this many of the memory limit. */
const memoryParts = 32;
/** Largest number of bytes that they may use, however large the memory limit is. */
const maxBytesOfAll = 32 * 1024 * 1024;

/**
 * Bounds the memory of bodies that are read before a key is checked: those of people who sign in, and of administrators. Each body counts
 * with its declared length until it is complete. A compressed body counts with the maximum. When all bodies together need too much memory,
 * the request that has been arriving for longest is disconnected, so that fast clients do not wait for slow ones. A body without a declared
 * length is refused, because each of its chunks may have a single byte and needs some 200 bytes of memory.
 */
export class ArrivingBodies {
  readonly #maxBytes: number;
  /** Bytes by request, the oldest request first. */
  readonly #arriving = new Map<Request, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Creates the handler to mount before a handler that reads a body.
   * @param maxBytes largest body that the later handler reads
   */
  within(maxBytes: number): RequestHandler {
    return (request, response, next) => {
      const { 'content-length': length, 'transfer-encoding': transfer, 'content-encoding': encoding } = request.headers;
      if (transfer !== undefined) return next(noLength());
      if (length === undefined) return next();
      const bytes = encoding === undefined ? Math.min(Number(length), maxBytes) : maxBytes;
      this.#add(request, requestBytes + bytes);
      const remove = (): void => this.#remove(request);
      request.once('end', remove);
      // The rest of a refused body is discarded as it arrives, so it needs no memory.
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
 * Returns the bytes that all bodies read before a key is checked may have together.
 * @param memoryBytes the memory limit of the container; 0 if it has none
 */
export function arrivingBytes(memoryBytes: number): number {
  return Math.min(maxBytesOfAll, computeMemoryShare(memoryParts, memoryBytes));
}
