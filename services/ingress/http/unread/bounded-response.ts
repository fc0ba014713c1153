import type { ServerResponse } from 'node:http';
import { blockBytes } from './output-blocks.ts';
import type { BatchedOutput } from './output-batcher.ts';
import { unreadMs, type UnreadOutput, type UnreadOutputs } from './unread-outputs.ts';

/** Number of waiting blocks that are written to the socket together. */
const blocksAtOnce = 4;

interface Block {
  bytes: Buffer;
  used: number;
  /** Number of bytes at the start of the block that continue a piece of an earlier block. */
  carried: number;
  /** Whether the next block continues the last piece. */
  isContinued: boolean;
}

/**
 * Writes an answer as fast as its client reads it. All output is copied into reusable blocks, for two reasons. A piece is a view of a
 * broker message, and would keep the whole message in memory. The queue of a socket needs several times the bytes of small pieces, and
 * cannot be shortened.
 */
export class BoundedResponse implements UnreadOutput, BatchedOutput {
  readonly #response: ServerResponse;
  readonly #outputs: UnreadOutputs;
  readonly #onGivenUp: () => void;
  /** Pieces of this turn of the event loop, at most one block. They count as unread from the end of the turn. */
  #gatheredPieces: Uint8Array[] = [];
  #gatheredBytes = 0;
  /** Blocks that wait for the socket. */
  #waitingBlocks: Block[] = [];
  /** Blocks that were written to the socket, and that the system may not have accepted yet. */
  #sentBlocks: Block[] = [];
  /** Whether the write callback of the socket has not been called yet, so that the sent blocks must not be reused. */
  #isSending = false;
  #isEnding = false;
  #isWatched = false;

  /** @param onGivenUp called when the answer cannot continue, because the client reads too slowly. The callback may call `end`. */
  constructor(response: ServerResponse, outputs: UnreadOutputs, onGivenUp: () => void) {
    this.#response = response;
    this.#outputs = outputs;
    this.#onGivenUp = onGivenUp;
  }

  get unreadBytes(): number {
    const { destroyed, writableLength } = this.#response;
    if (destroyed) return 0;
    const sentBytes = writableLength === 0 ? 0 : Math.max(writableLength, this.#sentBlocks.length * blockBytes);
    return this.#waitingBlocks.length * blockBytes + sentBytes;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Writes a piece at once. The caller may reuse the memory of the piece afterwards. */
  write(piece: Uint8Array | string): void {
    if (this.#isEnding || this.#response.destroyed) return;
    this.sendBatch();
    this.#sendOrQueue(typeof piece === 'string' ? Buffer.from(piece) : piece);
  }

  /**
   * Writes a piece at the end of this turn of the event loop, together with pieces that follow in the same turn. The memory of the piece
   * must not change until then.
   */
  writeSoon(piece: Uint8Array): void {
    if (this.#isEnding || this.#response.destroyed) return;
    if (this.#gatheredBytes + piece.length > blockBytes) this.sendBatch();
    if (this.#isBlocked || piece.length > blockBytes) return this.#sendOrQueue(piece);
    if (this.#gatheredPieces.length === 0) this.#outputs.batcher.add(this);
    this.#gatheredPieces.push(piece);
    this.#gatheredBytes += piece.length;
  }

  sendBatch(): void {
    const pieces = this.#takeGathered();
    if (pieces.length === 0 || this.#response.destroyed) return;
    this.#sendBlocks([this.#copyIntoBlock(pieces)]);
    this.#count();
  }

  /** Writes the last piece. A client that makes no progress for half a minute is disconnected. */
  end(piece: Uint8Array | string): void {
    if (this.#isEnding || this.#response.destroyed) return;
    this.#isEnding = true;
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (this.#gatheredBytes + bytes.length > blockBytes) this.sendBatch();
    if (this.#isBlocked) this.#queue(bytes);
    else this.#endAtOnce(bytes);
    if (this.unreadBytes > 0) this.#response.setTimeout(unreadMs, () => this.#response.destroy());
    this.#count();
  }

  /** Discards the waiting output. If the answer already has its end, the connection is closed, because no error can be added. */
  giveUp(): void {
    if (this.#isEnding) {
      this.#response.destroy();
      return;
    }
    this.#takeGathered();
    this.#dropWaiting();
    this.#onGivenUp();
  }

  #takeGathered(): Uint8Array[] {
    const gathered = this.#gatheredPieces;
    if (gathered.length === 0) return gathered;
    this.#gatheredPieces = [];
    this.#gatheredBytes = 0;
    return gathered;
  }

  #sendOrQueue(bytes: Uint8Array): void {
    if (this.#isBlocked) this.#queue(bytes);
    else this.#sendAtOnce(bytes);
    this.#count();
  }

  get #isBlocked(): boolean {
    return this.#waitingBlocks.length > 0 || this.#response.writableLength > 0;
  }

  #sendAtOnce(bytes: Uint8Array): void {
    const blocks: Block[] = [];
    for (let start = 0; start < bytes.length; start += blockBytes) {
      blocks.push(this.#copyIntoBlock([bytes.subarray(start, start + blockBytes)]));
    }
    this.#sendBlocks(blocks);
  }

  /**
   * Writes blocks to the socket together. The socket is corked during the writes. Otherwise the response would cork the socket until the
   * end of this turn of the event loop, and its pieces would be sent after the ends of other answers.
   */
  #sendBlocks(blocks: readonly Block[]): void {
    const { socket } = this.#response;
    socket?.cork();
    this.#sentBlocks.push(...blocks);
    for (const block of blocks) this.#response.write(block.bytes.subarray(0, block.used));
    socket?.uncork();
    if (this.#response.writableLength === 0) this.#releaseSent();
  }

  /** Sends the last piece. A piece larger than a block is sent from its own memory. */
  #endAtOnce(bytes: Uint8Array): void {
    if (bytes.length > blockBytes) return void this.#response.end(bytes);
    const block = this.#copyIntoBlock([...this.#takeGathered(), bytes]);
    this.#sentBlocks.push(block);
    this.#response.end(block.bytes.subarray(0, block.used));
    if (this.#response.writableLength === 0) this.#releaseSent();
  }

  #queue(bytes: Uint8Array): void {
    const last = this.#waitingBlocks.at(-1);
    const fitting = last ? Math.min(bytes.length, blockBytes - last.used) : 0;
    if (last && fitting > 0) {
      last.bytes.set(bytes.subarray(0, fitting), last.used);
      last.used += fitting;
      last.isContinued = fitting < bytes.length;
    }
    for (let start = fitting; start < bytes.length; start += blockBytes) {
      const block = this.#copyIntoBlock([bytes.subarray(start, start + blockBytes)]);
      block.carried = start > 0 ? block.used : 0;
      block.isContinued = start + blockBytes < bytes.length;
      this.#waitingBlocks.push(block);
    }
    if (!this.#isSending) this.#sendWaiting();
  }

  #sendWaiting(): void {
    const blocks = this.#waitingBlocks.splice(0, blocksAtOnce);
    const last = blocks.at(-1);
    if (!last) {
      if (this.#isEnding) this.#response.end();
      return;
    }
    this.#isSending = true;
    this.#sentBlocks.push(...blocks);
    for (const block of blocks) {
      const bytes = block.bytes.subarray(0, block.used);
      if (block === last) this.#response.write(bytes, (error) => this.#onSent(error));
      else this.#response.write(bytes);
    }
  }

  #onSent(error: Error | null | undefined): void {
    // The socket is closed, or about to be.
    if (error || this.#response.destroyed) return;
    this.#isSending = false;
    this.#releaseSent();
    this.#sendWaiting();
    this.#outputs.count(this);
  }

  #count(): void {
    if (!this.#isWatched) {
      if (this.unreadBytes === 0) return;
      this.#isWatched = true;
      this.#response.once('close', () => this.#close());
    }
    this.#outputs.count(this);
  }

  #close(): void {
    this.#takeGathered();
    this.#releaseSent();
    for (const { bytes } of this.#waitingBlocks) this.#outputs.blocks.release(bytes);
    this.#waitingBlocks = [];
    this.#outputs.count(this);
  }

  /** Discards the waiting blocks, except for the rest of a piece that is partly in the socket. */
  #dropWaiting(): void {
    const isWithin = this.#sentBlocks.at(-1)?.isContinued === true;
    const end = isWithin
      ? this.#waitingBlocks.findIndex(({ isContinued, carried, used }) => !isContinued || carried < used)
      : -1;
    const dropped = this.#waitingBlocks.splice(end + 1);
    const last = this.#waitingBlocks.at(-1);
    if (last) {
      last.used = last.carried;
      last.isContinued = false;
    }
    for (const { bytes } of dropped) this.#outputs.blocks.release(bytes);
  }

  #releaseSent(): void {
    for (const { bytes } of this.#sentBlocks) this.#outputs.blocks.release(bytes);
    this.#sentBlocks = [];
  }

  /** Copies parts into a new block. The parts must fit into one block together. */
  #copyIntoBlock(parts: readonly Uint8Array[]): Block {
    const bytes = this.#outputs.blocks.take();
    let used = 0;
    for (const part of parts) {
      bytes.set(part, used);
      used += part.length;
    }
    return { bytes, used, carried: 0, isContinued: false };
  }
}
