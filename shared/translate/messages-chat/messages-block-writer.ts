import type { JsonObject } from '#shared/core/json.ts';
import { createTextBlock, createToolUseBlock } from '#shared/formats/messages/message-object.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import type { Block, BlockWriter } from '../blocks/block-queue.ts';
import type { ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { writeReturnedSignature } from '../vocabulary/returned-signature.ts';
import { writeTextSignature } from '../vocabulary/shown-thinking.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { messagesToolId } from '../vocabulary/tool-call.ts';
import type { AnswerContext } from '../translation.ts';

/** The kinds of blocks besides tool calls. A redacted block has no text. */
export type TextKind = 'text' | 'thinking' | 'redacted';

export class MessagesBlockWriter implements BlockWriter<TextKind> {
  readonly #signatures = new WeakMap<Block<TextKind>, string>();
  readonly #omittedTexts = new WeakMap<Block<TextKind>, string>();
  readonly #returnedReasoning = new WeakMap<Block<TextKind>, ReturnedReasoning>();
  readonly #answerContext: Pick<AnswerContext, 'origin' | 'model'>;
  readonly #omitsThinking: boolean;
  #index = 0;

  /** @param omitsThinking whether thinking blocks are written without their text, which their signatures then carry */
  constructor(answerContext: Pick<AnswerContext, 'origin' | 'model'>, omits: boolean) {
    this.#answerContext = answerContext;
    this.#omitsThinking = omits;
  }

  /** Sets the signature of a thinking block, in place of the router's default signature. */
  sign(block: Block<TextKind>, signature: string): void {
    this.#signatures.set(block, signature);
  }

  /** Attaches to a thinking block or a redacted block the reasoning that the upstream wants back. */
  attachReturned(block: Block<TextKind>, returned: ReturnedReasoning): void {
    this.#returnedReasoning.set(block, returned);
  }

  isSigned(block: Block<TextKind>): boolean {
    return this.#signatures.has(block) || this.#returnedReasoning.has(block);
  }

  begin(block: Block<TextKind>): string {
    const content = block.kind === 'redacted' ? this.#writeRedactedBlock(block) : createBeginning(block);
    return this.#event('content_block_start', { content_block: content });
  }

  addText(block: Block<TextKind>, text: string): string {
    const { kind } = block;
    if (this.#omitsThinking && kind === 'thinking') {
      this.#omittedTexts.set(block, (this.#omittedTexts.get(block) ?? '') + text);
      return '';
    }
    return this.#event('content_block_delta', { delta: createDelta(kind, text) });
  }

  close(block: Block<TextKind>): string {
    const delta = { type: 'signature_delta', signature: this.#signatures.get(block) ?? this.#writeOwnSignature(block) };
    const signature = block.kind === 'thinking' ? this.#event('content_block_delta', { delta }) : '';
    const stop = this.#event('content_block_stop', {});
    this.#index++;
    return signature + stop;
  }

  #writeOwnSignature(block: Block<TextKind>): string {
    const omitted = this.#omitsThinking ? (this.#omittedTexts.get(block) ?? '') : undefined;
    const returned = this.#returnedReasoning.get(block);
    if (returned) return writeReturnedSignature(returned, this.#answerContext, omitted);
    return omitted === undefined ? syntheticSignature : writeTextSignature(omitted);
  }

  #writeRedactedBlock(block: Block<TextKind>): JsonObject {
    return createRedactedBlock(this.#returnedReasoning.get(block) ?? {}, this.#answerContext);
  }

  #event(type: string, fields: JsonObject): string {
    return writeNamedEvent(type, JSON.stringify({ type, index: this.#index, ...fields }));
  }
}

/** Creates the block that carries reasoning which the upstream wants back, for an answer without visible thinking. */
export function createRedactedBlock(
  returned: ReturnedReasoning,
  answerContext: Pick<AnswerContext, 'origin' | 'model'>,
): JsonObject {
  return { type: 'redacted_thinking', data: writeReturnedSignature(returned, answerContext, undefined) };
}

function createBeginning({ kind, call }: Block<TextKind>): JsonObject {
  switch (kind) {
    case 'text':
      return createTextBlock('');
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    default:
      return createToolUseBlock(messagesToolId(call?.id ?? ''), call?.name ?? '', {});
  }
}

function createDelta(kind: TextKind | 'call', text: string): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text_delta', text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    default:
      return { type: 'input_json_delta', partial_json: text };
  }
}
