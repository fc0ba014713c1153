import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { findSealableFields } from '../responses-messages/sealed-thinking.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { readReasoningText, reasoningSignatureField, unifyReasoning } from '../upstreams/chat/reasoning.ts';
import { ReasoningCollector } from '../upstreams/chat/returned-reasoning.ts';
import { ToolCallAssembler, computeCallIdPrefix } from '../upstreams/chat/tool-call-assembler.ts';
import { readTextLogprobs } from './read-text-logprobs.ts';

/** Writes the messages or deltas of a chat upstream's answer as items of a response. Results are text ready to be sent. */
export class ChatOutput {
  readonly #answerContext: AnswerContext;
  readonly #answer: ResponsesAnswerWriter;
  readonly #callAssembler: ToolCallAssembler;
  readonly #reasoningCollector = new ReasoningCollector();
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#answer = new ResponsesAnswerWriter(answerContext);
    this.#callAssembler = new ToolCallAssembler(computeCallIdPrefix(answerContext.id));
  }

  get hasContent(): boolean {
    return this.#answer.hasContent;
  }

  get response(): JsonObject {
    return this.#answer.response;
  }

  begin(): string {
    return this.#answer.begin();
  }

  /**
   * Adds a delta or a whole message with its thinking, text, refusal and tool calls. Changes `delta`.
   * @param logprobs log probabilities of the choice that contains the delta
   * @param isWhole whether `delta` is a whole message, so that each tool call is complete and its index has no meaning
   */
  addMessage(delta: JsonObject, logprobs: Json | undefined, isWhole = false): string {
    unifyReasoning(delta);
    this.#reasoningCollector.add(delta);
    const { content, refusal, tool_calls: calls } = delta;
    let events = '';
    const thought = this.#countText(readReasoningText(delta));
    if (thought !== '') events += this.#answer.addReasoning(thought);
    const sealable = findSealableFields(
      { type: 'thinking', signature: delta[reasoningSignatureField] },
      this.#answerContext,
    );
    if (sealable) this.#answer.sealReasoning(sealable);
    const text = this.#countText(content);
    const refusalPiece = this.#countText(refusal);
    if (text !== '' || refusalPiece !== '') this.#sealReturned();
    if (text !== '') events += this.#answer.addText(text, readTextLogprobs(logprobs, text));
    if (refusalPiece !== '') events += this.#answer.addRefusal(refusalPiece);
    for (const [index, call] of (Array.isArray(calls) ? calls : []).entries()) {
      const piece = this.#callAssembler.assign(isWhole && isJsonObject(call) ? { ...call, index } : call);
      this.#countText((piece.name ?? '') + piece.arguments);
      this.#reasoningCollector.addCall(piece.id, call);
      if (piece.isFirst) this.#sealReturned();
      events += this.#answer.addCall(piece);
    }
    return events;
  }

  /**
   * Ends the answer.
   * @throws RouterError `upstream_failed` if the upstream reports that it aborted
   */
  finish(finish: Json | undefined, reported: Json | undefined): { text: string; ending: Ending } {
    const finishReason = readFinishReason(finish, this.#callAssembler.size > 0);
    this.#sealReturned();
    const usage = fillUsage(readChatUsage(reported), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const ending = { finishReason, usage };
    return { text: this.#answer.finish(ending), ending };
  }

  /** Seals the reasoning that the upstream wants back: in the reasoning item before it, or in a new item without text. */
  #sealReturned(): void {
    if (this.#reasoningCollector.isEmpty) return;
    const { origin, model } = this.#answerContext;
    const returned = this.#reasoningCollector.take();
    if (returned && origin !== undefined && this.#answer.sealsReasoning)
      this.#answer.sealReasoning({ model, origin, returned });
  }

  #countText(text: Json | undefined): string {
    if (typeof text !== 'string') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return text;
  }
}
