import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import type { AnswerWriter } from '../../answer-writer.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../../translation.ts';
import { readStopSequence } from '../../vocabulary/stop-reason.ts';
import { parseUpstreamEvent } from '../parse-upstream-json.ts';
import { readFinishReason } from './finish-reason.ts';
import { readDelta } from './chat-upstream.ts';
import { readReasoningText, reasoningSignatureField, unifyReasoning } from './reasoning.ts';
import { ReasoningCollector } from './returned-reasoning.ts';
import { ToolCallAssembler, computeCallIdPrefix } from './tool-call-assembler.ts';
import { readChatEventError } from './upstream-error.ts';

/**
 * Reads the answer of a chat upstream for clients of other formats. A streamed answer begins with the first chunk that has a choice, and
 * ends only when the stream ends, because the usage may come last.
 */
export class ChatReader implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #writer: AnswerWriter;
  #hasStarted = false;
  #isDone = false;
  /** Undefined until the answer has a tool call. */
  #callAssembler: ToolCallAssembler | undefined;
  /** Undefined until the upstream sends reasoning that it wants back. */
  #reasoningCollector: ReasoningCollector | undefined;
  #upstreamFinishReason: string | undefined;
  #stopSequence: string | null = null;
  #usage: JsonObject | undefined;
  #outputBytes = 0;

  constructor(answerContext: AnswerContext, writer: AnswerWriter) {
    this.#answerContext = answerContext;
    this.#writer = writer;
  }

  get hasContent(): boolean {
    return this.#writer.hasContent;
  }

  translateEvent(data: string): string {
    if (data === '[DONE]') {
      this.#isDone = true;
      return '';
    }
    const chunk = parseUpstreamEvent(data);
    const choice = this.#readChoice(chunk);
    if (!choice) return '';
    const begin = this.#hasStarted ? '' : this.#writer.begin(readChatUsage(this.#usage));
    this.#hasStarted = true;
    const delta = readDelta(choice);
    return delta ? begin + this.#readMessage(delta, choice['logprobs'], false) : begin;
  }

  translateEnd(): { text: string; ending: Ending } {
    if ((!this.#isDone && this.#upstreamFinishReason === undefined) || !this.#hasStarted) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    return this.#finish();
  }

  /**
   * Reads an answer that is not streamed.
   * @throws RouterError with the error that the body reports; `upstream_failed` if the body is not an answer
   */
  readWhole(body: JsonObject): Ending {
    const choice = this.#readChoice(body);
    const message = choice?.['message'];
    if (!isJsonObject(message)) {
      throw new RouterError('upstream_failed', 'The upstream sent an answer without a message.');
    }
    this.#readMessage(message, choice?.['logprobs'], true);
    return this.#finish().ending;
  }

  /** Reads the fields of a chunk or a whole answer besides its message. Returns the first choice, if there is one. */
  #readChoice(chunk: JsonObject): JsonObject | undefined {
    const failure = readChatEventError(chunk);
    if (failure) throw failure;
    const { choices, usage } = chunk;
    if (isJsonObject(usage)) this.#usage = usage;
    const choice = Array.isArray(choices) ? choices[0] : undefined;
    if (!isJsonObject(choice)) return undefined;
    if (typeof choice['finish_reason'] === 'string') this.#upstreamFinishReason = choice['finish_reason'];
    this.#stopSequence ??= readStopSequence(choice);
    return choice;
  }

  /** @param isWhole whether each tool call is complete; its index then has no meaning */
  #readMessage(message: JsonObject, logprobs: Json | undefined, isWhole: boolean): string {
    if (Array.isArray(message['content'])) unifyReasoning(message);
    const { content, refusal, tool_calls: calls, [reasoningSignatureField]: signature } = message;
    this.#collectReturned(message);
    let events = '';
    const thinking = this.#readCounted(readReasoningText(message));
    if (thinking !== '') events += this.#writer.addThinking(thinking);
    if (typeof signature === 'string' && signature !== '') {
      this.#writer.sign?.({ type: 'thinking', signature });
    }
    const text = this.#readCounted(content);
    const refusalText = this.#readCounted(refusal);
    if (text !== '' || refusalText !== '') this.#attachReturned('text');
    if (text !== '') events += this.#writer.addText(text, logprobs);
    if (refusalText !== '') events += this.#writer.addRefusal(refusalText);
    if (!Array.isArray(calls)) return events;
    let position = 0;
    for (const call of calls) {
      events += this.#readCall(isWhole && isJsonObject(call) ? { ...call, index: position } : call);
      position += 1;
    }
    return events;
  }

  #readCall(call: Json): string {
    this.#callAssembler ??= new ToolCallAssembler(computeCallIdPrefix(this.#answerContext.id));
    const piece = this.#callAssembler.assign(call);
    this.#readCounted((piece.name ?? '') + piece.arguments);
    if (isJsonObject(call)) this.#collectReturned(call, piece.id);
    if (piece.isFirst) this.#attachReturned('call');
    return this.#writer.addCall(piece);
  }

  /** @param callId the call's id if `part` is a tool call; otherwise `part` is a message or delta */
  #collectReturned(part: JsonObject, callId?: string): void {
    if (part['extra_content'] === undefined && part['reasoning_details'] === undefined) return;
    this.#reasoningCollector ??= new ReasoningCollector();
    if (callId === undefined) this.#reasoningCollector.add(part);
    else this.#reasoningCollector.addCall(callId, part);
  }

  #attachReturned(next: 'text' | 'call' | 'end'): void {
    const collector = this.#reasoningCollector;
    if (collector && !collector.isEmpty) this.#writer.attachReturned?.(collector, next);
  }

  #finish(): { text: string; ending: Ending } {
    const finishReason = readFinishReason(this.#upstreamFinishReason, this.#callAssembler !== undefined);
    this.#attachReturned('end');
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const ending = { usage, finishReason };
    return { text: this.#writer.finish(ending, this.#stopSequence), ending };
  }

  /** Returns a text of the answer; '' for any other value. Adds the bytes of the text to the estimate of output tokens. */
  #readCounted(text: Json | undefined): string {
    if (typeof text !== 'string' || text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return text;
  }
}
