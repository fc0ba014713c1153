import type { JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { createEndingFields, createMessageObject } from '#shared/formats/messages/message-object.ts';
import { writeMessagesUsage } from '#shared/formats/messages/usage.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import type { AnswerWriter } from '../answer-writer.ts';
import { BlockQueue, type Block } from '../blocks/block-queue.ts';
import { createEditReport } from '../context/edit-context.ts';
import type { AnswerContext, Ending } from '../translation.ts';
import type { FinishReason } from '../upstreams/chat/finish-reason.ts';
import type { ReasoningCollector } from '../upstreams/chat/returned-reasoning.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';
import { toReasoningSignature } from '../vocabulary/reasoning-signature.ts';
import type { ShownThinking } from '../vocabulary/shown-thinking.ts';
import { toStopReason } from '../vocabulary/stop-reason.ts';
import { toMessagesToolId } from '../vocabulary/tool-call.ts';
import { MessagesBlockWriter, type TextKind } from './messages-block-writer.ts';

/** Writes the events of a message. Refusals become text. */
export class MessagesAnswerWriter implements AnswerWriter {
  readonly #answerContext: AnswerContext;
  readonly #shownThinking: ShownThinking;
  readonly #writer: MessagesBlockWriter;
  readonly #blocks: BlockQueue<TextKind>;
  #hasContent = false;
  /** Whether the answer has thinking that the client does not get. A ping shows this to a worker that continues the answer. */
  #hasHiddenThinking = false;

  constructor(answerContext: AnswerContext, shownThinking: ShownThinking) {
    this.#answerContext = answerContext;
    this.#shownThinking = shownThinking;
    this.#writer = new MessagesBlockWriter(answerContext, shownThinking === 'omitted');
    this.#blocks = new BlockQueue(this.#writer);
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  /**
   * Begins the message. Its first event states the input tokens: the count of the upstream, or an estimate. Clients replace this number by
   * the counts at the end of the stream.
   */
  begin(reported: Usage | undefined): string {
    const { id, model, promptTokens } = this.#answerContext;
    const usage = fillUsage(reported, { prompt: promptTokens, completion: () => 0 });
    const ending = { stop_reason: null, stop_sequence: null };
    const message = createMessageObject({ id, model, content: [], ending, usage });
    return writeEvent({ type: 'message_start', message }) + writeEvent({ type: 'ping' });
  }

  addText(text: string): string {
    return this.#noteContent(this.#blocks.addText('text', text));
  }

  addRefusal(text: string): string {
    return this.addText(text);
  }

  addThinking(text: string): string {
    if (this.#shownThinking === 'none') return this.#hideThinking();
    if (text === '') {
      this.#hasContent = true;
      return '';
    }
    this.#openUnsignedThinking();
    return this.#noteContent(this.#blocks.addText('thinking', text));
  }

  addCall(piece: ToolCallPiece): string {
    return this.#noteContent(this.#blocks.addCallPiece(piece));
  }

  /** Signs the open thinking block. If the upstream shows none of its thinking, signs a block without text. */
  sign(thinking: JsonObject): void {
    if (this.#shownThinking === 'none') return;
    const signature =
      thinking['type'] === 'reasoning' ? toReasoningSignature(thinking, this.#answerContext) : thinking['signature'];
    if (typeof signature === 'string') this.#writer.sign(this.#openUnsignedThinking(), signature);
  }

  /**
   * Attaches the reasoning to the thinking block before it, or to a new redacted block, so that the client's next request returns the
   * reasoning. If the client expects no thinking, leaves the reasoning in the collector until a tool call needs it, because a redacted
   * block must not come first in such an answer.
   */
  attachReturned(collector: ReasoningCollector, next: 'text' | 'call' | 'end'): void {
    const isRequired = next === 'call' || (next === 'end' && collector.hasCallSignatures);
    if (this.#answerContext.origin === undefined || (this.#shownThinking === 'none' && !isRequired)) return;
    const returned = collector.take();
    if (!returned) return;
    const { last } = this.#blocks;
    const isOpen = last?.kind === 'thinking' && !this.#writer.isSigned(last);
    const block = isOpen ? last : this.#blocks.appendBlock('redacted');
    this.#writer.sign(block, returned.calls ? { ...returned, calls: toMessagesIds(returned.calls) } : returned);
  }

  finish({ usage, finishReason }: Ending & { finishReason: FinishReason }, stopSequence: string | null): string {
    const stopReason = toStopReason(finishReason, stopSequence);
    const delta = createEndingFields({
      stop_reason: stopReason,
      stop_sequence: stopReason === 'stop_sequence' ? stopSequence : null,
    });
    return (
      this.#blocks.closeAll() +
      writeEvent({
        type: 'message_delta',
        delta,
        usage: writeMessagesUsage(usage),
        ...createEditReport(this.#answerContext.recalled),
      }) +
      writeEvent({ type: 'message_stop' })
    );
  }

  /**
   * Counts hidden thinking as content, because the upstream is active and must not count as silent. Writes a ping for the first hidden
   * piece.
   */
  #hideThinking(): string {
    this.#hasContent = true;
    const ping = this.#hasHiddenThinking ? '' : writeEvent({ type: 'ping' });
    this.#hasHiddenThinking = true;
    return ping;
  }

  /** Returns the last block if it is unsigned thinking; otherwise a new thinking block. */
  #openUnsignedThinking(): Block<TextKind> {
    const { last } = this.#blocks;
    return last?.kind === 'thinking' && !this.#writer.isSigned(last) ? last : this.#blocks.appendBlock('thinking');
  }

  #noteContent(events: string): string {
    this.#hasContent ||= events !== '';
    return events;
  }
}

/** Replaces the ids of the calls by their ids in the `messages` format. */
function toMessagesIds(signatures: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(signatures).map(([id, signature]) => [toMessagesToolId(id), signature]));
}

function writeEvent(data: JsonObject & { type: string }): string {
  return writeNamedEvent(data.type, JSON.stringify(data));
}
