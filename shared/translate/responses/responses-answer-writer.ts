import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { ResponseEvents } from '#shared/formats/responses/event-numbers.ts';
import { createResponseObject, type ResponseState } from '#shared/formats/responses/response-object.ts';
import { writeResponsesUsage } from '#shared/formats/responses/usage.ts';
import type { AnswerWriter } from '../answer-writer.ts';
import { BlockQueue } from '../blocks/block-queue.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import type { ReasoningCollector } from '../upstreams/chat/returned-reasoning.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';
import { createCompactionItem } from './compaction.ts';
import { readTextLogprobs } from './read-text-logprobs.ts';
import { readRecalled } from './recalled-request.ts';
import { type ResponsesBlockKind, ResponsesBlockWriter } from './responses-block-writer.ts';
import { findSealableFields } from './sealed-thinking.ts';

/**
 * Writes one answer of the Responses format from the pieces of an upstream's answer. Writes both the events and the whole response object.
 * Items follow one another: pieces of a later item wait until the earlier items are complete.
 */
export class ResponsesAnswerWriter implements AnswerWriter {
  readonly #answerContext: AnswerContext;
  readonly #repeated: JsonObject;
  readonly #events = new ResponseEvents();
  readonly #writer: ResponsesBlockWriter;
  readonly #queue: BlockQueue<ResponsesBlockKind>;
  /** Whether reasoning items carry content that only later requests of the owner can open. */
  readonly #sealsReasoning: boolean;
  #hasContent = false;
  #searchCount = 0;
  #reasoningBytes = 0;
  /** The text so far, if the answer becomes one `compaction` item; undefined for any other answer. */
  #summary: string | undefined;
  #response: JsonObject;

  constructor(answerContext: AnswerContext) {
    const recalled = readRecalled(answerContext.recalled);
    this.#answerContext = answerContext;
    this.#repeated = recalled.repeated;
    this.#sealsReasoning = recalled.sealsReasoning && answerContext.seal !== undefined;
    if (recalled.compacts) this.#summary = '';
    this.#writer = new ResponsesBlockWriter({
      answerId: answerContext.id,
      recalled,
      seal: answerContext.seal,
      events: this.#events,
    });
    this.#queue = new BlockQueue(this.#writer);
    this.#response = this.#createResponse({ status: 'in_progress' });
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** The response object. It is complete after `finish`. */
  get response(): JsonObject {
    return this.#response;
  }

  begin(): string {
    const response = this.#response;
    return (
      this.#events.write('response.created', { response }) + this.#events.write('response.in_progress', { response })
    );
  }

  addText(delta: string, logprobs?: Json): string {
    if (isJsonObject(logprobs) && this.#summary === undefined) this.#addLogprobs(readTextLogprobs(logprobs, delta));
    return this.#addToQueue('text', delta);
  }

  addRefusal(delta: string): string {
    return this.#addToQueue('refusal', delta);
  }

  addThinking(delta: string): string {
    this.#reasoningBytes += Buffer.byteLength(delta);
    if (this.#summary !== undefined) return '';
    const last = this.#queue.last;
    // Sealed content ends a reasoning item.
    if (last?.kind === 'reasoning' && this.#writer.carried.has(last)) this.#queue.appendBlock('reasoning');
    return this.#addToQueue('reasoning', delta);
  }

  /**
   * Seals a value, such as an upstream's signature, in the `encrypted_content` of the last reasoning item, together with the item's text.
   * If no reasoning item is open, a new one carries the value.
   */
  sealReasoning(value: JsonObject): void {
    if (this.#summary !== undefined) return;
    const last = this.#queue.last;
    const isOpen = last?.kind === 'reasoning' && !this.#writer.carried.has(last);
    this.#writer.carried.set(isOpen ? last : this.#queue.appendBlock('reasoning'), value);
    this.#hasContent = true;
  }

  sign(thinking: JsonObject): void {
    const sealable = findSealableFields(thinking, this.#answerContext);
    if (sealable) this.sealReasoning(sealable);
  }

  attachReturned(collector: ReasoningCollector): void {
    const { origin, model } = this.#answerContext;
    const returned = collector.take();
    if (returned && origin !== undefined && this.#sealsReasoning) this.sealReasoning({ model, origin, returned });
  }

  addCall(piece: ToolCallPiece): string {
    if (this.#summary !== undefined) return '';
    this.#hasContent = true;
    return this.#queue.addCallPiece(piece);
  }

  addSearch(query: string): string {
    const id = this.#answerContext.id.replace(/^resp_|^/, `ws_${this.#searchCount++}_`);
    const action = { type: 'search', query, queries: [query] };
    return this.addItem({ id, type: 'web_search_call', status: 'completed', action });
  }

  /** Adds a complete item. An item without an id gets one. */
  addItem(item: JsonObject): string {
    this.#hasContent = true;
    this.#writer.carried.set(this.#queue.appendBlock('item'), item);
    return this.#queue.writeReady();
  }

  /**
   * Closes all items and writes the last event.
   * @throws RouterError `upstream_failed` if a tool call has no name, or the requested summary is missing
   */
  finish({ finishReason, usage }: Ending): string {
    const reason = incompleteReasons[finishReason];
    this.#writer.closingStatus = reason === undefined ? 'completed' : 'incomplete';
    const compaction =
      this.#summary === undefined ? '' : this.addItem(createCompactionItem(this.#answerContext, this.#summary));
    const items = compaction + this.#queue.closeAll();
    const status = reason === undefined ? 'completed' : 'incomplete';
    this.#response = this.#createResponse({
      status,
      output: this.#writer.output,
      usage: writeResponsesUsage(this.#estimateThinking(usage)),
      incompleteReason: reason,
      completed: status === 'completed' ? (this.#answerContext.now?.() ?? this.#answerContext.created) : undefined,
    });
    return items + this.#events.write(`response.${status}`, { response: this.#response });
  }

  #addLogprobs(logprobs: readonly JsonObject[]): void {
    if (logprobs.length === 0) return;
    const last = this.#queue.last;
    this.#writer.addLogprobs(last?.kind === 'text' ? last : this.#queue.appendBlock('text'), logprobs);
  }

  #addToQueue(kind: ResponsesBlockKind, text: string): string {
    this.#hasContent = true;
    if (this.#summary === undefined) return this.#queue.addText(kind, text);
    this.#summary += text;
    return '';
  }

  /** Estimates the thinking tokens if the upstream does not count them. */
  #estimateThinking(usage: Usage): Usage {
    if (this.#reasoningBytes === 0 || usage.reasoningTokens > 0) return usage;
    const estimated = Math.min(estimateTokensOfBytes(this.#reasoningBytes), usage.completionTokens);
    return { ...usage, reasoningTokens: Math.max(1, estimated) };
  }

  #createResponse(state: Pick<ResponseState, 'status'> & Partial<ResponseState>): JsonObject {
    const { id, model, created } = this.#answerContext;
    return createResponseObject({ id, model, created, repeated: this.#repeated, ...state });
  }
}

const incompleteReasons: Readonly<Record<string, ResponseState['incompleteReason']>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};
