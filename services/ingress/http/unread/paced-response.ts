import type { ServerResponse } from 'node:http';
import { blockBytes, type UnreadOutput, type UnreadOutputs } from './unread-outputs.ts';

/** Milliseconds without progress after which a client that does not read the end of its answer is disconnected. */
const unreadMs = 30_000;

interface Block {
  bytes: Buffer;
  used: number;
}

/**
 * Writes an answer to its client at the pace at which the client reads. What the socket does not take waits here in a few large
 * blocks, because a socket's queue costs several times the bytes of small pieces and cannot be shortened.
 */
export class PacedResponse implements UnreadOutput {
  readonly #response: ServerResponse;
  readonly #outputs: UnreadOutputs;
  readonly #onGivenUp: () => void;
  /** What waits, whole pieces in each block. */
  #blocks: Block[] = [];
  #blocksBytes = 0;
  #isEnding = false;
  #isFollowed = false;

  /** @param onGivenUp called when the client reads too little for the answer to go on. It may call `end` once more. */
  constructor(response: ServerResponse, outputs: UnreadOutputs, onGivenUp: () => void) {
    this.#response = response;
    this.#outputs = outputs;
    this.#onGivenUp = onGivenUp;
  }

  get unreadBytes(): number {
    return this.#response.destroyed ? 0 : this.#blocksBytes + this.#response.writableLength;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Writes a piece. The owner of its memory may reuse it afterwards. */
  write(piece: Uint8Array | string): void {
    if (this.#isEnding || this.#response.destroyed) return;
    if (this.#isBlocked) this.#hold(piece);
    else {
      // Unless the socket is corked already, the response corks it until the end of this turn of the event loop, and its
      // pieces leave after the ends of other answers.
      const { socket } = this.#response;
      socket?.cork();
      this.#response.write(this.#copyIfWaiting(piece));
      socket?.uncork();
    }
    this.#count();
  }

  /** Writes the last piece. Without progress for half a minute, the client is disconnected. */
  end(piece: Uint8Array | string): void {
    if (this.#isEnding || this.#response.destroyed) return;
    this.#isEnding = true;
    if (this.#blocks.length > 0) this.#hold(piece);
    else this.#response.end(this.#copyIfWaiting(piece));
    if (this.unreadBytes > 0) this.#response.setTimeout(unreadMs, () => this.#response.destroy());
    this.#count();
  }

  /** Drops what waits. An answer that has its end already is cut off: nothing can be added to it. */
  giveUp(): void {
    this.#drop();
    if (this.#isEnding) this.#response.destroy();
    else this.#onGivenUp();
  }

  get #isBlocked(): boolean {
    return this.#blocks.length > 0 || this.#response.writableNeedDrain;
  }

  #count(): void {
    if (!this.#isFollowed) {
      if (this.unreadBytes === 0) return;
      this.#isFollowed = true;
      this.#response.on('drain', () => this.#writeHeld());
      this.#response.on('close', () => {
        this.#drop();
        this.#outputs.count(this);
      });
    }
    this.#outputs.count(this);
  }

  #writeHeld(): void {
    while (this.#blocks.length > 0 && !this.#response.writableNeedDrain) {
      const block = this.#blocks.shift();
      if (!block) break;
      this.#blocksBytes -= block.bytes.length;
      this.#response.write(block.bytes.subarray(0, block.used));
    }
    if (this.#isEnding && this.#blocks.length === 0) this.#response.end();
    this.#outputs.count(this);
  }

  #hold(piece: Uint8Array | string): void {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    const last = this.#blocks.at(-1);
    if (last && last.used + bytes.length <= last.bytes.length) {
      last.bytes.set(bytes, last.used);
      last.used += bytes.length;
      return;
    }
    const block = bytes.length > blockBytes ? Buffer.allocUnsafeSlow(bytes.length) : this.#outputs.takeBlock();
    block.set(bytes);
    this.#blocks.push({ bytes: block, used: bytes.length });
    this.#blocksBytes += block.length;
  }

  #drop(): void {
    for (const { bytes } of this.#blocks) this.#outputs.giveBlock(bytes);
    this.#blocks = [];
    this.#blocksBytes = 0;
  }

  /** Copies bytes that cannot be sent at once: they may be a view of a much larger buffer read from the broker. */
  #copyIfWaiting(piece: Uint8Array | string): Uint8Array | string {
    const { socket, writableLength } = this.#response;
    return typeof piece !== 'string' && (socket === null || writableLength > 0) ? Buffer.from(piece) : piece;
  }
}
