import type { JsonObject } from '#shared/core/json.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeChatUsage, writeChatUsageDetails } from '#shared/formats/chat/usage.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { AnswerWriter } from '../answer-writer.ts';
import type { AnswerContext, Ending } from '../translation.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';

/** Writes the chunks of a chat completion. Thinking becomes `reasoning_content`, without its signatures. */
export class ChatAnswerWriter implements AnswerWriter {
  readonly #answerContext: AnswerContext;
  readonly #customCalls: CustomCalls | undefined;
  /** The fields that every chunk begins with, as JSON text without the closing brace. */
  readonly #head: string;
  /** Indexes of the function calls that have no arguments so far. */
  readonly #callsWithoutArguments = new Set<number>();
  #hasContent = false;

  constructor(answerContext: AnswerContext) {
    const { id, created, model } = answerContext;
    this.#answerContext = answerContext;
    this.#customCalls = CustomCalls.createFor(answerContext.recalled);
    this.#head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  begin(): string {
    return this.#writeDelta('{"role":"assistant","content":""}');
  }

  addText(text: string): string {
    return this.#writeText('content', text);
  }

  addRefusal(text: string): string {
    return this.#writeText('refusal', text);
  }

  addThinking(text: string): string {
    if (text !== '') return this.#writeText('reasoning_content', text);
    this.#hasContent = true;
    return '';
  }

  addCall(piece: ToolCallPiece, isCustom = false): string {
    this.#hasContent = true;
    const custom = isCustom ? toCustomCall(piece) : this.#customCalls?.toCallPiece(piece);
    if (custom) return this.#writeCalls([custom]);
    const { index, id, isFirst, name = '', arguments: text } = piece;
    if (text === '') this.#callsWithoutArguments.add(index);
    else this.#callsWithoutArguments.delete(index);
    if (!isFirst) return this.#writeCalls([createCallDelta(index, text)]);
    return this.#writeCalls([{ index, id, type: 'function', function: { name, arguments: text } }]);
  }

  finish({ usage, finishReason }: Ending): string {
    const unsentInputs = this.#customCalls?.takeUnsentInputs() ?? [];
    let calls = unsentInputs.length === 0 ? '' : this.#writeCalls(unsentInputs);
    // In the chat format, the arguments of a call without arguments are an empty object.
    for (const index of this.#callsWithoutArguments) calls += this.#writeCalls([createCallDelta(index, '{}')]);
    const { id, created, model } = this.#answerContext;
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason: finishReason };
    const last = { id, object: 'chat.completion.chunk', created, model, choices: [choice] };
    return calls + writeChatEnding(last, writeChatUsage(usage, writeChatUsageDetails(usage)));
  }

  #writeText(field: 'content' | 'reasoning_content' | 'refusal', text: string): string {
    this.#hasContent = true;
    return this.#writeDelta(`{"${field}":${JSON.stringify(text)}}`);
  }

  #writeCalls(calls: JsonObject[]): string {
    return this.#writeDelta(JSON.stringify({ tool_calls: calls }));
  }

  /** @param delta JSON text */
  #writeDelta(delta: string): string {
    return writeDataEvent(
      `${this.#head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":null}]}`,
    );
  }
}

function createCallDelta(index: number, text: string): JsonObject {
  return { index, function: { arguments: text } };
}

function toCustomCall({ index, id, isFirst, name = '', arguments: input }: ToolCallPiece): JsonObject {
  return isFirst ? { index, id, type: 'custom', custom: { name, input } } : { index, custom: { input } };
}
