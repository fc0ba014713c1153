import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeChatUsageDetails, fillUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';
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
  readonly #callsWithoutArguments = new Set<number>();
  #hasStarted = false;
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
    const opening = this.#hasStarted ? '' : this.#writeChunk({});
    return opening + pieces.map((piece) => this.#writePiece(piece)).join('');
  }

  end(): { text: string; ending: Ending } {
    if (!this.#reader.isComplete) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const { finishReason } = this.#reader;
    const usage = fillUsage(this.#reader.usage, {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    // In the chat format, a call without arguments has an empty object.
    const empty = [...this.#callsWithoutArguments]
      .map((index) => this.#writeChunk(createCallDelta(index, '{}')))
      .join('');
    const written = writeChatUsage(usage, writeChatUsageDetails(usage));
    const text = writeChatEnding(this.#createChunk({}, finishReason), written, this.#answerContext.usageChunk);
    return { text: empty + text, ending: { usage, finishReason } };
  }

  #writePiece(piece: ResponsesPiece): string {
    switch (piece.kind) {
      case 'text':
        return this.#writeText('content', piece.text);
      case 'refusal':
        return this.#writeText('refusal', piece.text);
      case 'thinking':
        return this.#writeText('reasoning_content', piece.text);
      case 'call':
        return this.#writeCall(piece.call, piece.isCustom);
      case 'thought':
        return '';
    }
  }

  #writeText(field: 'content' | 'refusal' | 'reasoning_content', text: string): string {
    if (text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return this.#writeChunk({ [field]: text });
  }

  #writeCall({ index, id, isFirst, name = '', arguments: text }: ToolCallPiece, isCustom: boolean): string {
    this.#outputBytes += Buffer.byteLength(name + text);
    if (isCustom) {
      const custom = { index, id, type: 'custom', custom: { name, input: text } };
      return this.#writeChunk({ tool_calls: [isFirst ? custom : { index, custom: { input: text } }] });
    }
    if (text === '') this.#callsWithoutArguments.add(index);
    else this.#callsWithoutArguments.delete(index);
    if (!isFirst) return this.#writeChunk(createCallDelta(index, text));
    return this.#writeChunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }] });
  }

  #writeChunk(delta: JsonObject): string {
    const first = !this.#hasStarted;
    this.#hasStarted = true;
    return writeDataEvent(
      JSON.stringify(this.#createChunk(first ? { role: 'assistant', content: '', ...delta } : delta, null)),
    );
  }

  #createChunk(delta: JsonObject, finishReason: string | null): JsonObject {
    return {
      id: this.#answerContext.id,
      object: 'chat.completion.chunk',
      created: this.#answerContext.created,
      model: this.#answerContext.model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    };
  }
}

function createCallDelta(index: number, text: string): JsonObject {
  return { tool_calls: [{ index, function: { arguments: text } }] };
}
