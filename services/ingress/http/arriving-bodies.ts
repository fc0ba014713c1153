import type { Request, RequestHandler } from 'express';
import { shareOfMemory } from '#shared/core/memory-budget.ts';

/** Bytes of a request besides its body, with its connection. */
const requestBytes = 16 * 1024;

/** One in so many bytes of the memory limit is for bodies that arrive here, and so many bytes at most. */
const memoryParts = 32;
const maxBytesOfAll = 32 * 1024 * 1024;

/**
 * Bounds the memory of bodies that are received without a key, of people who sign in and of those who administer. Each counts with the
 * length that it says, or with all that it may have, until it is whole. When all take too much, the one that has been arriving for longest
 * is disconnected: whoever sends quickly shall not wait for who does not.
 */
export class ArrivingBodies {
  readonly #maxBytes: number;
  /** By request, the one that came first first. */
  readonly #arriving = new Map<Request, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Makes the handler that comes before one that reads a body. @param maxBytes the most that that one reads */
  within(maxBytes: number): RequestHandler {
    return (request, response, next) => {
      const { 'content-length': length, 'transfer-encoding': transfer, 'content-encoding': encoding } = request.headers;
      if (length === undefined && transfer === undefined) return next();
      const bytes = length === undefined || encoding !== undefined ? maxBytes : Math.min(Number(length), maxBytes);
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

/**
 * The bytes that bodies without a key may have together.
 * @param memoryBytes the container's limit; 0 without one
 */
export function arrivingBytes(memoryBytes: number): number {
  return Math.min(maxBytesOfAll, shareOfMemory(memoryParts, memoryBytes));
}
