import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { createEndingFields, createMessageObject } from '#shared/formats/messages/message-object.ts';
import { writeMessagesUsage } from '#shared/formats/messages/usage.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import { BlockQueue, type Block } from '../blocks/block-queue.ts';
import { MessagesBlockWriter, type TextKind } from '../messages-chat/messages-block-writer.ts';
import { editReportFields } from '../context/edit-context.ts';
import { readRecalledThinking } from '../vocabulary/shown-thinking.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import type { ResponsesPiece } from '../upstreams/responses/item-pieces.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';
import { finishReasonOfRefusal, toStopReason } from '../vocabulary/stop-reason.ts';
import { toReasoningSignature } from '../vocabulary/reasoning-signature.ts';

/**
 * Translates a Responses upstream's stream for `messages` clients. Each reasoning item becomes a thinking block whose signature carries the
 * upstream's encrypted content.
 */
export class MessagesToResponsesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #showsThinking: boolean;
  readonly #reader = new ResponsesReader();
  readonly #writer: MessagesBlockWriter;
  readonly #blocks: BlockQueue<TextKind>;
  #hasStarted = false;
  #hasContent = false;
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#writer = new MessagesBlockWriter(answerContext, false);
    this.#blocks = new BlockQueue(this.#writer);
    this.#showsThinking = readRecalledThinking(answerContext.recalled) !== 'none';
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    const pieces = this.#reader.read(data);
    this.#hasContent ||= pieces.length > 0;
    return this.#begin() + pieces.map((piece) => this.#writePiece(piece)).join('');
  }

  end(): { text: string; ending: Ending } {
    if (!this.#reader.isComplete) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = finishReasonOfRefusal(this.#reader.finishReason, this.#reader.hasRefused);
    const usage = fillUsage(this.#reader.usage, {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const delta = createEndingFields({ stop_reason: toStopReason(finishReason, null), stop_sequence: null });
    const text =
      this.#blocks.closeAll() +
      writeEvent({
        type: 'message_delta',
        delta,
        usage: writeMessagesUsage(usage),
        ...editReportFields(this.#answerContext.recalled),
      }) +
      writeEvent({ type: 'message_stop' });
    return { text, ending: { usage, finishReason } };
  }

  /**
   * Begins the message unless it has begun. The input tokens in its first event are an estimate. Clients replace them by the counts at the
   * end of the stream.
   */
  #begin(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const usage = fillUsage(undefined, { prompt: this.#answerContext.promptTokens, completion: () => 0 });
    const { id, model } = this.#answerContext;
    const message = createMessageObject({
      id,
      model,
      content: [],
      ending: { stop_reason: null, stop_sequence: null },
      usage,
    });
    return writeEvent({ type: 'message_start', message }) + writeEvent({ type: 'ping' });
  }

  #writePiece(piece: ResponsesPiece): string {
    if (!this.#showsThinking && (piece.kind === 'thinking' || piece.kind === 'thought')) return '';
    switch (piece.kind) {
      case 'text':
      case 'refusal':
        return this.#writeText('text', piece.text);
      case 'thinking':
        if (piece.text !== '') this.#findUnsignedThinking();
        return this.#writeText('thinking', piece.text);
      case 'thought': {
        const signature = toReasoningSignature(piece.item, this.#answerContext);
        if (signature === undefined) return '';
        this.#writer.sign(this.#findUnsignedThinking(), signature);
        return this.#blocks.writeReady();
      }
      case 'call':
        this.#outputBytes += Buffer.byteLength((piece.call.name ?? '') + piece.call.arguments);
        return this.#blocks.addCallPiece(piece.call);
    }
  }

  /** Returns the last block if it is thinking without a signature, or a new thinking block. */
  #findUnsignedThinking(): Block<TextKind> {
    const { last } = this.#blocks;
    return last?.kind === 'thinking' && !this.#writer.isSigned(last) ? last : this.#blocks.appendBlock('thinking');
  }

  #writeText(kind: TextKind, text: string): string {
    if (text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return this.#blocks.addText(kind, text);
  }
}

function writeEvent(data: JsonObject & { type: string }): string {
  return writeNamedEvent(data.type, JSON.stringify(data));
}
