import type { JsonObject } from '#shared/core/json.ts';
import { createTextBlock, createToolUseBlock } from '#shared/formats/messages/message-object.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import type { Block, BlockWriter } from '../blocks/block-queue.ts';
import type { ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { writeReturnedSignature } from '../vocabulary/reasoning-signature.ts';
import { writeTextSignature } from '../vocabulary/shown-thinking.ts';
import { syntheticSignature } from '../vocabulary/thinking.ts';
import { toMessagesToolId } from '../vocabulary/tool-call.ts';
import type { AnswerContext } from '../translation.ts';

/** The kinds of blocks besides tool calls. A redacted block has no text. */
export type TextKind = 'text' | 'thinking' | 'redacted';

/** The end of a delta event, after the text of the delta. */
const afterText = '}}\n\n';

export class MessagesBlockWriter implements BlockWriter<TextKind> {
  readonly #answerContext: Pick<AnswerContext, 'origin' | 'model'>;
  readonly #omitsThinking: boolean;
  readonly #signatures = new Map<Block<TextKind>, string | ReturnedReasoning>();
  #index = 0;
  /** The beginning of the delta events of the open block, up to the text. */
  #beforeText = '';
  /** The text of the open block so far, if the block is written without its text. */
  #omittedText = '';

  /** @param omitsThinking whether thinking blocks are written without their text; their signatures then carry the text */
  constructor(answerContext: Pick<AnswerContext, 'origin' | 'model'>, omitsThinking: boolean) {
    this.#answerContext = answerContext;
    this.#omitsThinking = omitsThinking;
  }

  /**
   * Sets the content that a thinking or redacted block carries for the upstream, in place of the router's default signature.
   * @param signature the upstream's signature, or the reasoning that the upstream wants back
   */
  sign(block: Block<TextKind>, signature: string | ReturnedReasoning): void {
    this.#signatures.set(block, signature);
  }

  isSigned(block: Block<TextKind>): boolean {
    return this.#signatures.has(block);
  }

  begin(block: Block<TextKind>): string {
    const emptyDelta = this.#writeEvent('content_block_delta', { delta: createEmptyDelta(block.kind) });
    this.#beforeText = emptyDelta.slice(0, -`""${afterText}`.length);
    return this.#writeEvent('content_block_start', { content_block: this.#createBeginning(block) });
  }

  addText(block: Block<TextKind>, text: string): string {
    if (this.#omitsThinking && block.kind === 'thinking') {
      this.#omittedText += text;
      return '';
    }
    return `${this.#beforeText}${JSON.stringify(text)}${afterText}`;
  }

  close(block: Block<TextKind>): string {
    let events = '';
    if (block.kind === 'thinking') {
      const delta = { type: 'signature_delta', signature: this.#writeSignature(block) };
      events = this.#writeEvent('content_block_delta', { delta });
    }
    events += this.#writeEvent('content_block_stop', {});
    this.#signatures.delete(block);
    this.#omittedText = '';
    this.#index++;
    return events;
  }

  #createBeginning(block: Block<TextKind>): JsonObject {
    switch (block.kind) {
      case 'text':
        return createTextBlock('');
      case 'thinking':
        return { type: 'thinking', thinking: '', signature: '' };
      case 'redacted': {
        const returned = this.#signatures.get(block);
        return createRedactedBlock(typeof returned === 'object' ? returned : {}, this.#answerContext);
      }
      case 'call':
        return createToolUseBlock(toMessagesToolId(block.call?.id ?? ''), block.call?.name ?? '', {});
    }
  }

  #writeSignature(block: Block<TextKind>): string {
    const signature = this.#signatures.get(block);
    if (typeof signature === 'string') return signature;
    const omitted = this.#omitsThinking ? this.#omittedText : undefined;
    if (signature) return writeReturnedSignature(signature, this.#answerContext, omitted);
    return omitted === undefined ? syntheticSignature : writeTextSignature(omitted);
  }

  #writeEvent(type: string, fields: JsonObject): string {
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

function createEmptyDelta(kind: TextKind | 'call'): JsonObject {
  switch (kind) {
    case 'text':
      return { type: 'text_delta', text: '' };
    case 'thinking':
      return { type: 'thinking_delta', thinking: '' };
    default:
      return { type: 'input_json_delta', partial_json: '' };
  }
}
