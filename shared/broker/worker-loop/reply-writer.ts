import type { RouterError } from '#shared/core/errors.ts';
import type { Broker } from '../connect-broker.ts';
import { encodeEnd, encodeError } from '../frame.ts';
import type { JobEnd, Reply } from '../job-contract.ts';
import type { FrameKind } from '../subjects.ts';

/** A data frame carries this many bytes at most, so that it meets no payload limit. */
const maxFrameBytes = 512 * 1024;

/** Pieces held back are sent at once when they have grown to this many bytes together. */
const maxHeldBytes = 64 * 1024;

/**
 * Turns the pieces of one answer into numbered frames. The first piece leaves at once; later ones that follow each
 * other within the coalescing window travel together, which saves a part of the broker's and the ingress's work in
 * bursts and delays nothing by more than that window.
 */
export class ReplyWriter implements Reply {
  readonly #broker: Broker;
  readonly #subject: string;
  readonly #coalesceMs: number;
  #seq = 0;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastSentAt = performance.now();
  #closed = false;

  /**
   * @param subject reply subject of the grant, before kind and number
   * @param coalesceMs length of the window; 0 sends every piece by itself
   */
  constructor(broker: Broker, subject: string, coalesceMs: number) {
    this.#broker = broker;
    this.#subject = subject;
    this.#coalesceMs = coalesceMs;
  }

  write(piece: string | Uint8Array): void {
    if (this.#closed || piece.length === 0) return;
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#timer !== undefined && this.#heldBytes < maxHeldBytes) return;
    this.#flush();
    if (this.#coalesceMs > 0) this.#openWindow();
  }

  /** Tells the ingress that the job lives, when nothing else has for this many milliseconds. */
  keepAlive(quietMs: number): void {
    if (!this.#closed && performance.now() - this.#lastSentAt > quietMs) this.#send('k', '');
  }

  /** Sends what is held and the end of the answer. */
  end(end: JobEnd): void {
    const last = this.#takeHeld();
    if (last.length > maxFrameBytes) this.#sendData(last);
    this.#send('e', encodeEnd(end, last.length > maxFrameBytes ? new Uint8Array(0) : last));
    this.close();
  }

  /** Sends what is held and the error that ended the answer. */
  fail(error: RouterError): void {
    this.#flush();
    this.#send('x', encodeError(error));
    this.close();
  }

  /** Drops what is held; nothing is sent from here on. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#held = [];
  }

  #openWindow(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#held.length === 0) return;
      this.#flush();
      this.#openWindow();
    }, this.#coalesceMs);
  }

  #flush(): void {
    const bytes = this.#takeHeld();
    if (bytes.length > 0) this.#sendData(bytes);
  }

  #takeHeld(): Uint8Array {
    const [first] = this.#held;
    const bytes = this.#held.length === 1 && first ? first : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return bytes;
  }

  #sendData(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; start += maxFrameBytes) {
      this.#send('d', bytes.subarray(start, start + maxFrameBytes));
    }
  }

  #send(kind: FrameKind, payload: Uint8Array | string): void {
    this.#lastSentAt = performance.now();
    this.#broker.publish(`${this.#subject}.${kind}.${this.#seq}`, payload);
    this.#seq += 1;
  }
}
