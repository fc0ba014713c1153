import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-order.ts';
import { namedEvent } from '#shared/formats/sse/encode.ts';
import { JsonEnd } from './json-end.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { messagesToolId } from '../vocabulary/tool-call.ts';

/** Most characters that wait for an earlier block to be complete. */
const mostWaiting = 4 * 1024 * 1024;

/** A block that is not closed yet. */
interface Block {
  kind: 'text' | 'thinking' | 'tool_use';
  /** Text that waits for the blocks before this one. */
  waiting: string;
  /** Id of a tool call. */
  id: string;
  /** Name of a tool call; it may arrive late. */
  name: string | undefined;
  /** Finds the end of a tool call's arguments. */
  end: JsonEnd | undefined;
}

/**
 * Arranges an answer's text, thinking and tool calls, whose pieces a chat upstream may interleave, as blocks of the messages
 * format: one after the other, each begun, filled and closed, numbered from 0.
 *
 * The first block of the queue is open: its pieces are sent at once. It closes when another block waits and it is complete:
 * text and thinking always are, a tool call is once its arguments are a complete JSON object. Pieces of later blocks wait;
 * at the end of the answer they are sent in order.
 */
export class BlockQueue {
  readonly #queue: Block[] = [];
  readonly #calls = new Map<number, Block>();
  #index = 0;
  #opened = false;
  #waiting = 0;

  /** Adds a piece of text or thinking and returns the events that can now be sent. */
  text(kind: 'text' | 'thinking', text: string): string {
    const last = this.#queue.at(-1);
    const block =
      last?.kind === kind ? last : this.#append({ kind, waiting: '', id: '', name: undefined, end: undefined });
    return this.#add(block, text);
  }

  /**
   * Adds a piece of a tool call and returns the events that can now be sent.
   * @throws RouterError `upstream_failed` if the call continues after its end, or too many pieces wait
   */
  tool(piece: ToolCallPiece): string {
    const known = this.#calls.get(piece.index);
    if (known && !this.#queue.includes(known)) {
      if (piece.arguments.trim() === '') return '';
      throw new RouterError('upstream_failed', 'The upstream continued a tool call that was complete.');
    }
    const id = messagesToolId(piece.id);
    const block = known ?? this.#append({ kind: 'tool_use', waiting: '', id, name: undefined, end: new JsonEnd() });
    this.#calls.set(piece.index, block);
    block.name ??= piece.name;
    block.end?.push(piece.arguments);
    return this.#add(block, piece.arguments);
  }

  /**
   * Closes all blocks and returns the events.
   * @throws RouterError `upstream_failed` if a tool call has no name
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

  /** Begins the first block if necessary, and sends its waiting text. */
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
