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
import { shownThinking } from '../vocabulary/shown-thinking.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import type { ResponsesPiece } from '../upstreams/responses/item-pieces.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';
import { finishReasonOfRefusal, stopReasonFor } from '../vocabulary/stop-reason.ts';
import { signatureFor } from '../vocabulary/reasoning-signature.ts';

/**
 * Translates a Responses upstream's stream for `messages` clients. Each reasoning item becomes a thinking block whose signature carries the
 * upstream's encrypted content.
 */
export class MessagesToResponsesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #shows: boolean;
  readonly #reader = new ResponsesReader();
  readonly #writer: MessagesBlockWriter;
  readonly #blocks: BlockQueue<TextKind>;
  #started = false;
  #hasContent = false;
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#writer = new MessagesBlockWriter(answerContext, false);
    this.#blocks = new BlockQueue(this.#writer);
    this.#shows = shownThinking(answerContext.recalled) !== 'none';
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    const pieces = this.#reader.read(data);
    this.#hasContent ||= pieces.length > 0;
    return this.#start() + pieces.map((piece) => this.#piece(piece)).join('');
  }

  end(): { text: string; ending: Ending } {
    if (!this.#reader.complete) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = finishReasonOfRefusal(this.#reader.finishReason, this.#reader.refused);
    const usage = fillUsage(this.#reader.usage, {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const delta = createEndingFields({ stop_reason: stopReasonFor(finishReason, null), stop_sequence: null });
    const text =
      this.#blocks.finish() +
      event({
        type: 'message_delta',
        delta,
        usage: writeMessagesUsage(usage),
        ...editReportFields(this.#answerContext.recalled),
      }) +
      event({ type: 'message_stop' });
    return { text, ending: { usage, finishReason } };
  }

  /** Begins the message unless it has begun. Its input tokens are an estimate. Clients replace them by the counts at the end. */
  #start(): string {
    if (this.#started) return '';
    this.#started = true;
    const usage = fillUsage(undefined, { prompt: this.#answerContext.promptTokens, completion: () => 0 });
    const { id, model } = this.#answerContext;
    const message = createMessageObject({
      id,
      model,
      content: [],
      ending: { stop_reason: null, stop_sequence: null },
      usage,
    });
    return event({ type: 'message_start', message }) + event({ type: 'ping' });
  }

  #piece(piece: ResponsesPiece): string {
    if (!this.#shows && (piece.kind === 'thinking' || piece.kind === 'thought')) return '';
    switch (piece.kind) {
      case 'text':
      case 'refusal':
        return this.#text('text', piece.text);
      case 'thinking':
        if (piece.text !== '') this.#thinking();
        return this.#text('thinking', piece.text);
      case 'thought': {
        const signature = signatureFor(piece.item, this.#answerContext);
        if (signature === undefined) return '';
        this.#writer.sign(this.#thinking(), signature);
        return this.#blocks.advance();
      }
      case 'call':
        this.#outputBytes += Buffer.byteLength((piece.call.name ?? '') + piece.call.arguments);
        return this.#blocks.tool(piece.call);
    }
  }

  /** Returns the open thinking block without a signature, or a new block. */
  #thinking(): Block<TextKind> {
    const { last } = this.#blocks;
    return last?.kind === 'thinking' && !this.#writer.isSigned(last) ? last : this.#blocks.append('thinking');
  }

  #text(kind: TextKind, text: string): string {
    if (text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return this.#blocks.text(kind, text);
  }
}

function event(data: JsonObject & { type: string }): string {
  return writeNamedEvent(data.type, JSON.stringify(data));
}
