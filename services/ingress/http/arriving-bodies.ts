import type { Request, RequestHandler } from 'express';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';
import { computePieceMemory } from './read-body.ts';

/** Bytes of memory of a request and its connection, without the body. */
const requestBytes = 16 * 1024;

/** The bodies may together use the memory limit divided by this number, see `computeMaxArrivingBytes`. */
const memoryDivisor = 32;
/** Largest number of bytes that the bodies may use together, however large the memory limit is. */
const maxBytesOfAll = 32 * 1024 * 1024;

/** Bytes of memory that the pieces of one body may need besides their content. A client may send each byte as a piece of its own. */
const maxPieceBytes = 64 * 1024;

/**
 * Bounds the memory of bodies that are read before a key is checked: the bodies of sign-ins and of administrators. Each body counts with
 * its declared length until it is complete. A compressed body, or one without a declared length, counts with the maximum. When all bodies
 * together need too much memory, the request that has been arriving for longest is disconnected, so that fast clients do not wait for slow
 * ones. A request whose body comes in very many small pieces is disconnected, too.
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
   * Creates the handler that counts the bodies of a route. Mount it before the handler that reads the body.
   * @param maxBytes largest body in bytes that the later handler reads
   */
  createHandler(maxBytes: number): RequestHandler {
    return (request, response, next) => {
      const { 'content-length': length, 'transfer-encoding': transfer, 'content-encoding': encoding } = request.headers;
      if (length === undefined && transfer === undefined) return next();
      const bytes = length === undefined || encoding !== undefined ? maxBytes : Math.min(Number(length), maxBytes);
      this.#add(request, requestBytes + bytes);
      endBodyOfSmallPieces(request);
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

/** Disconnects a request with too many small pieces. Counts the pieces as Node adds them, because the body may be read only later. */
function endBodyOfSmallPieces(request: Request): void {
  const push = request.push.bind(request);
  let pieceBytes = 0;
  request.push = (piece: Buffer | null, encoding) => {
    if (piece) pieceBytes += computePieceMemory(piece.length) - piece.length;
    if (pieceBytes <= maxPieceBytes) return push(piece, encoding);
    request.destroy();
    return false;
  };
}

/**
 * Computes the most bytes of memory that all bodies may use together while their keys are not checked.
 * @param memoryBytes the memory limit of the container; 0 if it has none
 */
export function computeMaxArrivingBytes(memoryBytes: number): number {
  return Math.min(maxBytesOfAll, computeMemoryShare(memoryDivisor, memoryBytes));
}
