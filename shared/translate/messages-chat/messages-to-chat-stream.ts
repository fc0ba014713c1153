import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { deltaOf } from '../upstreams/chat/delta-of.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { readReasoningText, reasoningSignatureField, unifyReasoning } from '../upstreams/chat/reasoning.ts';
import { ToolCallAssembler, toolCallPrefix } from '../upstreams/chat/tool-call-order.ts';
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
import { type ShownThinking, shownThinking } from '../vocabulary/shown-thinking.ts';
import { readStopSequence, stopReasonFor } from '../vocabulary/stop-reason.ts';
import { messagesToolId } from '../vocabulary/tool-call.ts';

/**
 * Translates a chat upstream's stream for `messages` clients. The message begins with the upstream's first event. It ends with the
 * upstream's stream, because the usage may come last.
 */
export class MessagesToChatStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #order: ToolCallAssembler;
  readonly #shown: ShownThinking;
  readonly #writer: MessagesBlockWriter;
  readonly #blocks: BlockQueue<TextKind>;
  readonly #returned = new ReasoningCollector();
  #started = false;
  #hasContent = false;
  #done = false;
  #finish: Json | undefined;
  #stopSequence: string | null = null;
  #usage: Json | undefined;
  #outputBytes = 0;
  /** Whether the answer has thinking that the client does not get. A ping tells this to a worker that would continue the answer. */
  #hasHidden = false;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#shown = shownThinking(answerContext.recalled);
    this.#writer = new MessagesBlockWriter(answerContext, this.#shown === 'omitted');
    this.#blocks = new BlockQueue(this.#writer);
    this.#order = new ToolCallAssembler(toolCallPrefix(answerContext.id));
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    if (data === '[DONE]') {
      this.#done = true;
      return '';
    }
    const chunk = parseUpstreamEvent(data);
    const failure = upstreamErrorFromChatEvent(chunk);
    if (failure) throw failure;
    if (isJsonObject(chunk['usage'])) this.#usage = chunk['usage'];
    const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (!isJsonObject(choice)) return '';
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'];
    this.#stopSequence ??= readStopSequence(choice);
    const delta = deltaOf(choice);
    const content = delta ? this.#delta(delta) : '';
    this.#hasContent ||= content !== '';
    return this.#start() + content;
  }

  end(): { text: string; ending: Ending } {
    if ((!this.#done && this.#finish === undefined) || !this.#started) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = readFinishReason(this.#finish, this.#order.size > 0);
    const stopReason = stopReasonFor(finishReason, this.#stopSequence);
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const delta = createEndingFields({
      stop_reason: stopReason,
      stop_sequence: stopReason === 'stop_sequence' ? this.#stopSequence : null,
    });
    this.#attachReturned(this.#returned.signsCalls || this.#shown !== 'none');
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

  /**
   * Begins the message unless it has begun. Its input tokens are the upstream's count so far, or an estimate. Clients replace them by the
   * counts at the end.
   */
  #start(): string {
    if (this.#started) return '';
    this.#started = true;
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
    return event({ type: 'message_start', message }) + event({ type: 'ping' });
  }

  #delta(delta: JsonObject): string {
    unifyReasoning(delta);
    this.#returned.add(delta);
    let events = this.#text('thinking', readReasoningText(delta));
    this.#sign(delta[reasoningSignatureField]);
    if (!this.#returned.isEmpty && hasText(delta)) this.#attachReturned(this.#shown !== 'none');
    events += this.#text('text', delta['content']);
    events += this.#text('text', delta['refusal']);
    if (!Array.isArray(delta['tool_calls'])) return events;
    for (const call of delta['tool_calls']) {
      const piece = this.#order.place(call);
      this.#returned.addCall(messagesToolId(piece.id), call);
      if (piece.first) this.#attachReturned(true);
      this.#outputBytes += Buffer.byteLength((piece.name ?? '') + piece.arguments);
      events += this.#blocks.tool(piece);
    }
    return events;
  }

  /** Signs the thinking block before the signature. If the agent shows none of its thinking, signs a block without text. */
  #sign(signature: Json | undefined): void {
    if (this.#shown === 'none') return;
    if (typeof signature === 'string' && signature !== '') this.#writer.sign(this.#unsigned(), signature);
  }

  /**
   * Attaches reasoning that the upstream wants back to the thinking block before it, or to a redacted block. The client's next request
   * returns it.
   * @param isWanted if false, nothing is attached, because the block would come first in an answer to a client that expects no thinking
   */
  #attachReturned(isWanted: boolean): void {
    if (this.#returned.isEmpty || !isWanted || this.#answerContext.origin === undefined) return;
    const returned = this.#returned.take();
    if (!returned) return;
    const { last } = this.#blocks;
    const isOpen = last?.kind === 'thinking' && !this.#writer.isSigned(last);
    this.#writer.attachReturned(isOpen ? last : this.#blocks.append('redacted'), returned);
  }

  /** Returns the open thinking block without a signature, or a new block. */
  #unsigned(): Block<TextKind> {
    const { last } = this.#blocks;
    return last?.kind === 'thinking' && !this.#writer.isSigned(last) ? last : this.#blocks.append('thinking');
  }

  #text(kind: 'text' | 'thinking', text: Json | undefined): string {
    if (typeof text !== 'string' || text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    if (kind === 'thinking') {
      if (this.#shown === 'none') {
        // The upstream is active and must not count as silent.
        this.#hasContent = true;
        const sign = this.#hasHidden ? '' : event({ type: 'ping' });
        this.#hasHidden = true;
        return sign;
      }
      this.#unsigned();
    }
    return this.#blocks.text(kind, text);
  }
}

function hasText({ content, refusal }: JsonObject): boolean {
  return [content, refusal].some((text) => typeof text === 'string' && text !== '');
}

function event(data: JsonObject & { type: string }): string {
  return writeNamedEvent(data.type, JSON.stringify(data));
}
