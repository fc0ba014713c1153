import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { sealableThinking } from '../responses-messages/carried-thinking.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { readReasoningText, reasoningSignatureField, unifyReasoning } from '../upstreams/chat/reasoning.ts';
import { ReasoningCollector } from '../upstreams/chat/returned-reasoning.ts';
import { ToolCallAssembler, toolCallPrefix } from '../upstreams/chat/tool-call-order.ts';
import { textLogprobs } from './text-logprobs.ts';

/** Writes the messages or deltas of a chat upstream's answer as items of a response. Results are text ready to be sent. */
export class ChatOutput {
  readonly #answerContext: AnswerContext;
  readonly #answer: ResponsesAnswerWriter;
  readonly #order: ToolCallAssembler;
  readonly #returned = new ReasoningCollector();
  #bytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#answer = new ResponsesAnswerWriter(answerContext);
    this.#order = new ToolCallAssembler(toolCallPrefix(answerContext.id));
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
   * @param isWhole whether every tool call is complete, so that its index has no meaning
   */
  add(delta: JsonObject, logprobs: Json | undefined, isWhole = false): string {
    unifyReasoning(delta);
    this.#returned.add(delta);
    const { content, refusal, tool_calls: calls } = delta;
    let events = '';
    const thought = this.#count(readReasoningText(delta));
    if (thought !== '') events += this.#answer.reasoning(thought);
    const signed = sealableThinking(
      { type: 'thinking', signature: delta[reasoningSignatureField] },
      this.#answerContext,
    );
    if (signed) this.#answer.sealReasoning(signed);
    const text = this.#count(content);
    const refused = this.#count(refusal);
    if (text !== '' || refused !== '') this.#sealReturned();
    if (text !== '') events += this.#answer.text(text, textLogprobs(logprobs, text));
    if (refused !== '') events += this.#answer.refusal(refused);
    for (const [index, call] of (Array.isArray(calls) ? calls : []).entries()) {
      const piece = this.#order.place(isWhole && isJsonObject(call) ? { ...call, index } : call);
      this.#count((piece.name ?? '') + piece.arguments);
      this.#returned.addCall(piece.id, call);
      if (piece.first) this.#sealReturned();
      events += this.#answer.call(piece);
    }
    return events;
  }

  /**
   * Ends the answer.
   * @throws RouterError `upstream_failed` if the upstream reports that it aborted
   */
  finish(finish: Json | undefined, reported: Json | undefined): { text: string; ending: Ending } {
    const finishReason = readFinishReason(finish, this.#order.size > 0);
    this.#sealReturned();
    const usage = fillUsage(readChatUsage(reported), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#bytes),
    });
    const ending = { finishReason, usage };
    return { text: this.#answer.finish(ending), ending };
  }

  /** Seals the reasoning that the upstream wants back in the reasoning item before it, or in an item without text. */
  #sealReturned(): void {
    if (this.#returned.isEmpty) return;
    const { origin, model } = this.#answerContext;
    const returned = this.#returned.take();
    if (returned && origin !== undefined && this.#answer.sealsReasoning)
      this.#answer.sealReasoning({ model, origin, returned });
  }

  #count(text: Json | undefined): string {
    if (typeof text !== 'string') return '';
    this.#bytes += Buffer.byteLength(text);
    return text;
  }
}
