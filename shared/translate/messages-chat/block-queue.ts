import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-order.ts';
import { namedEvent } from '#shared/formats/sse/encode.ts';
import { JsonEnd } from './json-end.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { messagesToolId } from '../vocabulary/tool-call.ts';

/** Characters that may wait for an earlier block to be complete. */
const mostWaiting = 4 * 1024 * 1024;

/** A block of the answer that is not closed yet. */
interface Block {
  kind: 'text' | 'thinking' | 'tool_use';
  /** Text that waits for the blocks before this one. */
  waiting: string;
  /** A tool call's id and name; the name may come late. */
  id: string;
  name: string | undefined;
  /** Follows a tool call's arguments. */
  end: JsonEnd | undefined;
}

/**
 * Puts an answer's text, thinking and tool calls, whose pieces a chat upstream may interleave, into blocks as the messages
 * format has them: one after the other, each begun, filled and closed, numbered from 0.
 *
 * The first block of the queue is open: its pieces go out at once. It is closed when another block waits and nothing more
 * can come for it: for text and thinking at once, for a tool call when its arguments are a complete JSON object. Pieces of
 * later blocks wait. At the end all that waits goes out in order.
 */
export class BlockQueue {
  readonly #queue: Block[] = [];
  readonly #calls = new Map<number, Block>();
  #index = 0;
  #opened = false;
  #waiting = 0;

  /** Takes a piece of text or thinking, and returns the events that it makes possible. */
  text(kind: 'text' | 'thinking', text: string): string {
    const last = this.#queue.at(-1);
    const block =
      last?.kind === kind ? last : this.#append({ kind, waiting: '', id: '', name: undefined, end: undefined });
    return this.#add(block, text);
  }

  /**
   * Takes a piece of a tool call, and returns the events that it makes possible.
   * @throws RouterError `upstream_failed` when a call goes on after its end, or too much waits
   */
  tool(piece: ToolCallPiece): string {
    const known = this.#calls.get(piece.index);
    if (known && !this.#queue.includes(known)) {
      if (piece.arguments.trim() === '') return '';
      throw new RouterError('upstream_failed', 'The upstream went on with a tool call that was complete.');
    }
    const id = messagesToolId(piece.id);
    const block = known ?? this.#append({ kind: 'tool_use', waiting: '', id, name: undefined, end: new JsonEnd() });
    this.#calls.set(piece.index, block);
    block.name ??= piece.name;
    block.end?.push(piece.arguments);
    return this.#add(block, piece.arguments);
  }

  /**
   * Closes all blocks, and returns the events for it.
   * @throws RouterError `upstream_failed` when a tool call never got a name
   */
  finish(): string {
    let events = '';
    for (let head = this.#queue[0]; head; head = this.#queue[0]) {
      if (head.kind === 'tool_use' && head.name === undefined) {
        throw new RouterError('upstream_failed', 'The upstream sent a tool call without a name.');
      }
      events += this.#flush(head) + this.#close(head);
    }
    return events;
  }

  #append(block: Block): Block {
    this.#queue.push(block);
    return block;
  }

  #add(block: Block, text: string): string {
    block.waiting += text;
    this.#waiting += text.length;
    if (this.#waiting > mostWaiting) throw new RouterError('upstream_failed', 'The upstream mixes up too much output.');
    let events = '';
    for (let head = this.#queue[0]; head; head = this.#queue[0]) {
      if (head.kind === 'tool_use' && head.name === undefined) break;
      events += this.#flush(head);
      if (this.#queue.length === 1 || head.end?.complete === false) break;
      events += this.#close(head);
    }
    return events;
  }

  /** Begins the first block if that was not done, and sends what waits in it. */
  #flush(head: Block): string {
    const begin = this.#opened ? '' : this.#event('content_block_start', { content_block: beginning(head) });
    this.#opened = true;
    if (head.waiting === '') return begin;
    const piece = this.#event('content_block_delta', { delta: deltaOf(head.kind, head.waiting) });
    this.#waiting -= head.waiting.length;
    head.waiting = '';
    return begin + piece;
  }

  #close(head: Block): string {
    const delta = { type: 'signature_delta', signature: syntheticSignature };
    const signature = head.kind === 'thinking' ? this.#event('content_block_delta', { delta }) : '';
    const stop = this.#event('content_block_stop', {});
    this.#queue.shift();
    this.#index++;
    this.#opened = false;
    return signature + stop;
  }

  #event(type: string, fields: JsonObject): string {
    return namedEvent(type, JSON.stringify({ type, index: this.#index, ...fields }));
  }
}

function beginning({ kind, id, name }: Block): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { type: 'tool_use', id, name: name ?? '', input: {} };
  }
}

function deltaOf(kind: Block['kind'], text: string): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text_delta', text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    case 'tool_use':
      return { type: 'input_json_delta', partial_json: text };
  }
}
