import { RouterError, ShortOfMemoryError } from '#shared/core/errors.ts';
import { computeMemoryShare } from '#shared/core/memory-budget.ts';

/** All partial events of a process together take at most this part of its memory limit. */
const memoryParts = 8;

/** Maximum bytes of one event. */
const maxEventBytes = 64 * 1024 * 1024;

/** Bytes that each event may keep, whatever the others keep: the rest of a piece that ends within an event. */
const minEventBytes = 64 * 1024;

/** Bytes of memory that a piece takes besides its content. */
const pieceBytes = 256;

const noBytes = Buffer.alloc(0);

/**
 * The memory for events of which only the beginning has come, in one process. Each may take half of what the others leave, so an upstream
 * whose events do not end takes no memory from the others. An event that is no longer used counts until it is collected.
 */
export class PartialEvents {
  readonly #maxBytes: number;
  readonly #collected = new FinalizationRegistry<{ bytes: number }>((kept) => {
    this.#bytes -= kept.bytes;
  });
  #bytes = 0;

  /** @param memoryBytes the memory limit of the process; 0 if there is none */
  constructor(memoryBytes: number) {
    this.#maxBytes = computeMemoryShare(memoryParts, memoryBytes);
  }

  open(): PartialEvent {
    const kept = { bytes: 0 };
    let pieces: Buffer[] = [];
    const event: PartialEvent = {
      get bytes() {
        return kept.bytes;
      },
      add: (piece) => {
        if (piece.length === 0) return;
        const addedBytes = piece.length + pieceBytes;
        const bytes = kept.bytes + addedBytes;
        const isTooLarge = bytes > maxEventBytes || bytes > Math.max(minEventBytes, this.#maxBytes / 2);
        if (isTooLarge || bytes > Math.max(minEventBytes, this.#maxBytes - this.#bytes - addedBytes)) {
          event.take(noBytes);
          throw isTooLarge ? createTooLargeError() : createNoRoomError();
        }
        pieces.push(Buffer.from(piece));
        this.#bytes += addedBytes;
        kept.bytes = bytes;
      },
      take: (end) => {
        const whole = Buffer.concat([...pieces, end]);
        pieces = [];
        this.#bytes -= kept.bytes;
        kept.bytes = 0;
        return whole;
      },
    };
    this.#collected.register(event, kept);
    return event;
  }
}

/** The beginning of an event. */
export interface PartialEvent {
  /** Bytes of memory that the pieces take. */
  readonly bytes: number;
  /**
   * Keeps a copy of a further piece.
   * @throws RouterError `upstream_failed` for an event that is too large, `overloaded` if the others leave no room; then nothing is kept
   */
  add(piece: Uint8Array): void;
  /** Returns the kept bytes, followed by the end of the event, and keeps nothing. */
  take(end: Uint8Array): Buffer;
}

/** The partial events of this process. */
export const partialEvents = new PartialEvents(process.constrainedMemory());

function createNoRoomError(): RouterError {
  return new ShortOfMemoryError('The router holds as much of unfinished events as it can.', 5);
}

function createTooLargeError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent an event that is too large.');
}
