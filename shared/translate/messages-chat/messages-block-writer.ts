import type { JsonObject } from '#shared/core/json.ts';
import { textBlock, toolUseBlock } from '#shared/formats/messages/message-object.ts';
import { namedEvent } from '#shared/formats/sse/encode.ts';
import type { Block, BlockWriter } from '../blocks/block-queue.ts';
import { carryingSignature } from '../vocabulary/shown-thinking.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { messagesToolId } from '../vocabulary/tool-call.ts';

type TextKind = 'text' | 'thinking';

/** Writes blocks as content blocks of the messages format, numbered from 0. */
export class MessagesBlockWriter implements BlockWriter<TextKind> {
  readonly #signatures = new WeakMap<Block<TextKind>, string>();
  readonly #omitted = new WeakMap<Block<TextKind>, string>();
  readonly #omits: boolean;
  #index = 0;

  /** @param omits whether blocks of thinking have no text: their signatures carry it */
  constructor(omits = false) {
    this.#omits = omits;
  }

  /** Gives a block of thinking a signature that says more than that the router has signed it. */
  sign(block: Block<TextKind>, signature: string): void {
    this.#signatures.set(block, signature);
  }

  isSigned(block: Block<TextKind>): boolean {
    return this.#signatures.has(block);
  }

  begin(block: Block<TextKind>): string {
    return this.#event('content_block_start', { content_block: beginning(block) });
  }

  piece(block: Block<TextKind>, text: string): string {
    const { kind } = block;
    if (this.#omits && kind === 'thinking') {
      this.#omitted.set(block, (this.#omitted.get(block) ?? '') + text);
      return '';
    }
    return this.#event('content_block_delta', { delta: deltaOf(kind, text) });
  }

  close(block: Block<TextKind>): string {
    const own = this.#omits ? carryingSignature(this.#omitted.get(block) ?? '') : syntheticSignature;
    const delta = { type: 'signature_delta', signature: this.#signatures.get(block) ?? own };
    const signature = block.kind === 'thinking' ? this.#event('content_block_delta', { delta }) : '';
    const stop = this.#event('content_block_stop', {});
    this.#index++;
    return signature + stop;
  }

  #event(type: string, fields: JsonObject): string {
    return namedEvent(type, JSON.stringify({ type, index: this.#index, ...fields }));
  }
}

function beginning({ kind, call }: Block<TextKind>): JsonObject {
  switch (kind) {
    case 'text':
      return textBlock('');
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'call':
      return toolUseBlock(messagesToolId(call?.id ?? ''), call?.name ?? '', {});
  }
}

function deltaOf(kind: TextKind | 'call', text: string): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text_delta', text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    case 'call':
      return { type: 'input_json_delta', partial_json: text };
  }
}
