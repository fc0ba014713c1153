import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeChatUsageDetails, fillUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-order.ts';
import type { ResponsesPiece } from '../upstreams/responses/item-pieces.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';

/**
 * Translates a Responses upstream's stream for chat clients: text becomes `content`, thinking and its summaries become `reasoning_content`,
 * and every call becomes a tool call with the next index.
 */
export class ChatToResponsesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #reader = new ResponsesReader();
  /** Indexes of the function calls that have no arguments so far. */
  readonly #bare = new Set<number>();
  #started = false;
  #hasContent = false;
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    const pieces = this.#reader.read(data);
    this.#hasContent ||= pieces.length > 0;
    const opening = this.#started ? '' : this.#chunk({});
    return opening + pieces.map((piece) => this.#piece(piece)).join('');
  }

  end(): { text: string; ending: Ending } {
    if (!this.#reader.complete) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const { finishReason } = this.#reader;
    const usage = fillUsage(this.#reader.usage, {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    // In the chat format, a call without arguments has an empty object.
    const empty = [...this.#bare].map((index) => this.#chunk(callDelta(index, '{}'))).join('');
    const written = writeChatUsage(usage, writeChatUsageDetails(usage));
    const text = writeChatEnding(this.#frame({}, finishReason), written, this.#answerContext.usageChunk);
    return { text: empty + text, ending: { usage, finishReason } };
  }

  #piece(piece: ResponsesPiece): string {
    switch (piece.kind) {
      case 'text':
        return this.#text('content', piece.text);
      case 'refusal':
        return this.#text('refusal', piece.text);
      case 'thinking':
        return this.#text('reasoning_content', piece.text);
      case 'call':
        return this.#call(piece.call, piece.isCustom);
      case 'thought':
        return '';
    }
  }

  #text(field: 'content' | 'refusal' | 'reasoning_content', text: string): string {
    if (text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return this.#chunk({ [field]: text });
  }

  #call({ index, id, first, name = '', arguments: text }: ToolCallPiece, isCustom: boolean): string {
    this.#outputBytes += Buffer.byteLength(name + text);
    if (isCustom) {
      const custom = { index, id, type: 'custom', custom: { name, input: text } };
      return this.#chunk({ tool_calls: [first ? custom : { index, custom: { input: text } }] });
    }
    if (text === '') this.#bare.add(index);
    else this.#bare.delete(index);
    if (!first) return this.#chunk(callDelta(index, text));
    return this.#chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] });
  }

  #chunk(delta: JsonObject): string {
    const first = !this.#started;
    this.#started = true;
    return writeDataEvent(
      JSON.stringify(this.#frame(first ? { role: 'assistant', content: '', ...delta } : delta, null)),
    );
  }

  #frame(delta: JsonObject, finishReason: string | null): JsonObject {
    return {
      id: this.#answerContext.id,
      object: 'chat.completion.chunk',
      created: this.#answerContext.created,
      model: this.#answerContext.model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    };
  }
}

function callDelta(index: number, text: string): JsonObject {
  return { tool_calls: [{ index, function: { arguments: text } }] };
}
