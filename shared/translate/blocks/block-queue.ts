import { RouterError } from '#shared/core/errors.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';

/** Maximum characters that wait for earlier blocks to close. */
const maxWaiting = 4 * 1024 * 1024;

export interface CallBlock {
  id: string;
  /** Undefined until the upstream has sent the name. The block begins only when its name is known. */
  name: string | undefined;
  end: JsonEnd;
}

/** One part of an answer: a text, thinking or a tool call. */
export interface Block<Kind extends string> {
  kind: Kind | 'call';
  /** Set only if the kind is `call`. */
  call: CallBlock | undefined;
  /** Text that waits for earlier blocks to close. */
  waiting: string;
}

/** Writes blocks as events of one format. Each method returns '' if it writes no event. Only one block is open at a time. */
export interface BlockWriter<Kind extends string> {
  begin(block: Block<Kind>): string;
  /** `text` is further text, or further arguments of a tool call. */
  addText(block: Block<Kind>, text: string): string;
  close(block: Block<Kind>): string;
}

/**
 * Arranges an answer's text, thinking and tool calls as blocks. A chat upstream may interleave the pieces of several blocks, but clients
 * get one block after the other: each block is begun, filled and closed.
 * The first block of the queue is open, and its pieces are written at once. The first block closes when it is complete and another block
 * waits. Text and thinking are always complete. A tool call is complete once its arguments are a complete JSON object. Pieces of later
 * blocks wait until the blocks before them are closed.
 * @template Kind the kinds of blocks other than tool calls
 */
export class BlockQueue<Kind extends string> {
  readonly #writer: BlockWriter<Kind>;
  readonly #queue: Block<Kind>[] = [];
  readonly #calls = new Map<number, Block<Kind>>();
  #isOpen = false;
  #waitingLength = 0;

  constructor(writer: BlockWriter<Kind>) {
    this.#writer = writer;
  }

  /** The last block of the queue; undefined if all blocks are closed. */
  get last(): Block<Kind> | undefined {
    return this.#queue.at(-1);
  }

  /**
   * Adds a piece of text or thinking and returns the events that can now be sent. The piece extends the last block if that block has the
   * same kind.
   */
  addText(kind: Kind, text: string): string {
    const last = this.last;
    return this.#add(last?.kind === kind ? last : this.appendBlock(kind), text);
  }

  /**
   * Adds a piece of a tool call and returns the events that can now be sent.
   * @throws RouterError `upstream_failed` if the call continues after its end, or too many pieces wait
   */
  addCallPiece(piece: ToolCallPiece): string {
    const existingBlock = this.#calls.get(piece.index);
    if (existingBlock && !this.#queue.includes(existingBlock)) {
      if (piece.arguments.trim() === '') return '';
      throw new RouterError('upstream_failed', 'The upstream continued a tool call that was complete.');
    }
    const block = existingBlock ?? this.#push('call', { id: piece.id, name: undefined, end: new JsonEnd() });
    this.#calls.set(piece.index, block);
    if (block.call) block.call.name ??= piece.name;
    block.call?.end.push(piece.arguments);
    return this.#add(block, piece.arguments);
  }

  /** Adds a block without text. A later call begins the block, once the blocks before it are complete. */
  appendBlock(kind: Kind): Block<Kind> {
    return this.#push(kind, undefined);
  }

  /** Writes all events that can now be sent. */
  writeReady(): string {
    let events = '';
    for (let head = this.#queue[0]; head; head = this.#queue[0]) {
      if (head.call && head.call.name === undefined) break;
      events += this.#flush(head);
      if (this.#queue.length === 1 || head.call?.end.isComplete === false) break;
      events += this.#close(head);
    }
    return events;
  }

  /**
   * Closes all blocks and returns the events.
   * @throws RouterError `upstream_failed` if a tool call has no name
   */
  closeAll(): string {
    let events = '';
    for (let head = this.#queue[0]; head; head = this.#queue[0]) {
      if (head.call && head.call.name === undefined) {
        throw new RouterError('upstream_failed', 'The upstream sent a tool call without a name.');
      }
      events += this.#flush(head) + this.#close(head);
    }
    return events;
  }

  #push(kind: Kind | 'call', call: CallBlock | undefined): Block<Kind> {
    const block: Block<Kind> = { kind, call, waiting: '' };
    this.#queue.push(block);
    return block;
  }

  #add(block: Block<Kind>, text: string): string {
    block.waiting += text;
    this.#waitingLength += text.length;
    if (this.#waitingLength > maxWaiting)
      throw new RouterError('upstream_failed', 'The upstream mixes up too much output.');
    return this.writeReady();
  }

  /** Begins the first block if necessary, and writes its waiting text. */
  #flush(head: Block<Kind>): string {
    const begin = this.#isOpen ? '' : this.#writer.begin(head);
    this.#isOpen = true;
    if (head.waiting === '') return begin;
    const piece = this.#writer.addText(head, head.waiting);
    this.#waitingLength -= head.waiting.length;
    head.waiting = '';
    return begin + piece;
  }

  #close(head: Block<Kind>): string {
    const events = this.#writer.close(head);
    this.#queue.shift();
    this.#isOpen = false;
    return events;
  }
}

/**
 * Detects the end of the first object or array in JSON text that arrives in pieces. Reads every character once and does not check the
 * syntax.
 */
class JsonEnd {
  #depth = 0;
  #hasBegun = false;
  #isInString = false;
  #isEscaped = false;

  get isComplete(): boolean {
    return this.#hasBegun && this.#depth === 0;
  }

  push(text: string): void {
    for (let index = 0; index < text.length && !this.isComplete; index++) {
      const character = text[index];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString) {
        if (character === '\\') this.#isEscaped = true;
        else if (character === '"') this.#isInString = false;
      } else if (character === '"') this.#isInString = true;
      else if (character === '{' || character === '[') {
        this.#hasBegun = true;
        this.#depth++;
      } else if (character === '}' || character === ']') this.#depth--;
    }
  }
}
