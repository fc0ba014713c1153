import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readDelta } from '../upstreams/chat/read-delta.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { readReasoningText, reasoningSignatureField, unifyReasoning } from '../upstreams/chat/reasoning.ts';
import { ToolCallAssembler, computeCallIdPrefix } from '../upstreams/chat/tool-call-assembler.ts';
import { ReasoningCollector } from '../upstreams/chat/returned-reasoning.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { fillUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { createEndingFields, createMessageObject } from '#shared/formats/messages/message-object.ts';
import { writeMessagesUsage } from '#shared/formats/messages/usage.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import { BlockQueue, type Block } from '../blocks/block-queue.ts';
import { MessagesBlockWriter, type TextKind } from './messages-block-writer.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { editReportFields } from '../context/edit-context.ts';
import { type ShownThinking, readRecalledThinking } from '../vocabulary/shown-thinking.ts';
import { readStopSequence, toStopReason } from '../vocabulary/stop-reason.ts';
import { messagesToolId } from '../vocabulary/tool-call.ts';

/**
 * Translates a chat upstream's stream for `messages` clients. The message begins with the upstream's first event, and ends only when the
 * upstream's stream ends, because the usage may come last.
 */
export class MessagesToChatStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #callAssembler: ToolCallAssembler;
  readonly #shownThinking: ShownThinking;
  readonly #writer: MessagesBlockWriter;
  readonly #blocks: BlockQueue<TextKind>;
  readonly #reasoningCollector = new ReasoningCollector();
  #hasStarted = false;
  #hasContent = false;
  #isDone = false;
  #upstreamFinishReason: Json | undefined;
  #stopSequence: string | null = null;
  #usage: Json | undefined;
  #outputBytes = 0;
  /**
   * Whether the answer has thinking that the client does not get. A ping in the answer tells this to a worker that continues the answer.
   */
  #hasHiddenThinking = false;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#shownThinking = readRecalledThinking(answerContext.recalled);
    this.#writer = new MessagesBlockWriter(answerContext, this.#shownThinking === 'omitted');
    this.#blocks = new BlockQueue(this.#writer);
    this.#callAssembler = new ToolCallAssembler(computeCallIdPrefix(answerContext.id));
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    if (data === '[DONE]') {
      this.#isDone = true;
      return '';
    }
    const chunk = parseUpstreamEvent(data);
    const failure = upstreamErrorFromChatEvent(chunk);
    if (failure) throw failure;
    if (isJsonObject(chunk['usage'])) this.#usage = chunk['usage'];
    const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (!isJsonObject(choice)) return '';
    if (typeof choice['finish_reason'] === 'string') this.#upstreamFinishReason = choice['finish_reason'];
    this.#stopSequence ??= readStopSequence(choice);
    const delta = readDelta(choice);
    const content = delta ? this.#translateDelta(delta) : '';
    this.#hasContent ||= content !== '';
    return this.#begin() + content;
  }

  end(): { text: string; ending: Ending } {
    if ((!this.#isDone && this.#upstreamFinishReason === undefined) || !this.#hasStarted) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = readFinishReason(this.#upstreamFinishReason, this.#callAssembler.size > 0);
    const stopReason = toStopReason(finishReason, this.#stopSequence);
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const delta = createEndingFields({
      stop_reason: stopReason,
      stop_sequence: stopReason === 'stop_sequence' ? this.#stopSequence : null,
    });
    this.#attachReturned(this.#reasoningCollector.hasCallSignatures || this.#shownThinking !== 'none');
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
   * Begins the message unless it has begun. The input tokens in its first event are the upstream's count so far, or an estimate. Clients
   * replace them by the counts at the end of the stream.
   */
  #begin(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => 0,
    });
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

  #translateDelta(delta: JsonObject): string {
    unifyReasoning(delta);
    this.#reasoningCollector.add(delta);
    let events = this.#writeText('thinking', readReasoningText(delta));
    this.#sign(delta[reasoningSignatureField]);
    if (!this.#reasoningCollector.isEmpty && hasText(delta)) this.#attachReturned(this.#shownThinking !== 'none');
    events += this.#writeText('text', delta['content']);
    events += this.#writeText('text', delta['refusal']);
    if (!Array.isArray(delta['tool_calls'])) return events;
    for (const call of delta['tool_calls']) {
      const piece = this.#callAssembler.assign(call);
      this.#reasoningCollector.addCall(messagesToolId(piece.id), call);
      if (piece.isFirst) this.#attachReturned(true);
      this.#outputBytes += Buffer.byteLength((piece.name ?? '') + piece.arguments);
      events += this.#blocks.addCallPiece(piece);
    }
    return events;
  }

  /** Signs the thinking block that is open. If the upstream shows none of its thinking, signs a block without text. */
  #sign(signature: Json | undefined): void {
    if (this.#shownThinking === 'none') return;
    if (typeof signature === 'string' && signature !== '') this.#writer.sign(this.#findUnsignedThinking(), signature);
  }

  /**
   * Attaches reasoning that the upstream wants back to the thinking block before it, or to a new redacted block, so that the client's next
   * request sends the reasoning back.
   * @param isWanted if false, nothing is attached, because the block would come first in an answer to a client that expects no thinking
   */
  #attachReturned(isWanted: boolean): void {
    if (this.#reasoningCollector.isEmpty || !isWanted || this.#answerContext.origin === undefined) return;
    const returned = this.#reasoningCollector.take();
    if (!returned) return;
    const { last } = this.#blocks;
    const isOpen = last?.kind === 'thinking' && !this.#writer.isSigned(last);
    this.#writer.attachReturned(isOpen ? last : this.#blocks.appendBlock('redacted'), returned);
  }

  /** Returns the last block if it is thinking without a signature, or a new thinking block. */
  #findUnsignedThinking(): Block<TextKind> {
    const { last } = this.#blocks;
    return last?.kind === 'thinking' && !this.#writer.isSigned(last) ? last : this.#blocks.appendBlock('thinking');
  }

  #writeText(kind: 'text' | 'thinking', text: Json | undefined): string {
    if (typeof text !== 'string' || text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    if (kind === 'thinking') {
      if (this.#shownThinking === 'none') {
        // The upstream is active and must not count as silent.
        this.#hasContent = true;
        const ping = this.#hasHiddenThinking ? '' : writeEvent({ type: 'ping' });
        this.#hasHiddenThinking = true;
        return ping;
      }
      this.#findUnsignedThinking();
    }
    return this.#blocks.addText(kind, text);
  }
}

function hasText({ content, refusal }: JsonObject): boolean {
  return [content, refusal].some((text) => typeof text === 'string' && text !== '');
}

function writeEvent(data: JsonObject & { type: string }): string {
  return writeNamedEvent(data.type, JSON.stringify(data));
}
