import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, writeChatUsage, writeChatUsageDetails } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { upstreamErrorFromMessagesEvent } from '../upstreams/messages/upstream-error.ts';
import { readMessagesUsage, overlayUsage } from '#shared/formats/messages/usage.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-assembler.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { readRefusalText, toFinishReason } from '../vocabulary/stop-reason.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';
import { toolArguments } from '../vocabulary/tool-call.ts';

interface OpenCall {
  /** Position among the calls of the answer. */
  index: number;
  id: string;
  /** The input in the block's start, which is sent at the block's end if no pieces of the input arrive. */
  input: JsonObject;
  hasSentInput: boolean;
}

/**
 * Translates a `messages` upstream's stream for chat clients: text becomes `content`, thinking becomes `reasoning_content`, and every
 * `tool_use` block becomes a tool call with the next index. Omits signatures, citations and pings.
 */
export class ChatToMessagesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #openCalls = new Map<Json | undefined, OpenCall>();
  readonly #customCalls: CustomCalls | undefined;
  #hasStarted = false;
  #hasContent = false;
  #isComplete = false;
  #callCount = 0;
  #stopReason: Json | undefined;
  #usage: JsonObject = {};
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#customCalls = CustomCalls.createFor(answerContext.recalled);
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    const event = parseUpstreamEvent(data);
    switch (event['type']) {
      case 'message_start':
        if (isJsonObject(event['message'])) this.#addUsage(event['message']['usage']);
        return this.#writeChunk({});
      case 'content_block_start':
        return isJsonObject(event['content_block']) ? this.#openBlock(event['index'], event['content_block']) : '';
      case 'content_block_delta':
        return isJsonObject(event['delta']) ? this.#translateDelta(event['index'], event['delta']) : '';
      case 'content_block_stop':
        return this.#closeBlock(event['index']);
      case 'message_delta':
        return this.#endMessage(event);
      case 'message_stop':
        this.#isComplete = true;
        return '';
      case 'error':
        throw upstreamErrorFromMessagesEvent(event);
      default:
        return '';
    }
  }

  end(): { text: string; ending: Ending } {
    if (!this.#hasStarted || (!this.#isComplete && this.#stopReason === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = toFinishReason(this.#stopReason, this.#callCount > 0);
    const usage = fillUsage(readMessagesUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const written = writeChatUsage(usage, writeChatUsageDetails(usage));
    const rest = this.#customCalls?.takeUnsentInputs() ?? [];
    const inputs = rest.length === 0 ? '' : this.#writeChunk({ tool_calls: rest });
    const text = inputs + writeChatEnding(this.#createChunk({}, finishReason), written, this.#answerContext.usageChunk);
    return { text, ending: { usage, finishReason } };
  }

  #openBlock(block: Json | undefined, content: JsonObject): string {
    switch (content['type']) {
      case 'text':
        return this.#writeText('content', content['text']);
      case 'thinking':
        // An upstream that omits the text of its thinking sends nothing but this start of a block while the model thinks.
        this.#hasContent = true;
        return this.#writeText('reasoning_content', content['thinking']);
      case 'tool_use': {
        const { id, name, input } = content;
        const call = {
          index: this.#callCount++,
          id: typeof id === 'string' ? id : '',
          input: isJsonObject(input) ? input : {},
          hasSentInput: false,
        };
        this.#openCalls.set(block, call);
        const called = typeof name === 'string' ? name : '';
        this.#outputBytes += Buffer.byteLength(called);
        return this.#writeCallPiece({ ...call, isFirst: true, name: called, arguments: '' });
      }
      default:
        return '';
    }
  }

  #translateDelta(block: Json | undefined, delta: JsonObject): string {
    switch (delta['type']) {
      case 'text_delta':
        return this.#writeText('content', delta['text']);
      case 'thinking_delta':
        return this.#writeText('reasoning_content', delta['thinking']);
      case 'input_json_delta':
        return this.#writeArguments(this.#openCalls.get(block), delta['partial_json']);
      default:
        return '';
    }
  }

  /** Ends a call. In the chat format, a call without arguments has an empty object. */
  #closeBlock(block: Json | undefined): string {
    const call = this.#openCalls.get(block);
    if (!this.#openCalls.delete(block) || !call || call.hasSentInput) return '';
    return this.#writeArguments(call, toolArguments(call.input));
  }

  #endMessage(event: JsonObject): string {
    this.#addUsage(event['usage']);
    const delta = isJsonObject(event['delta']) ? event['delta'] : {};
    if (typeof delta['stop_reason'] === 'string') this.#stopReason = delta['stop_reason'];
    return this.#writeText('refusal', readRefusalText(delta));
  }

  #writeText(field: 'content' | 'reasoning_content' | 'refusal', text: Json | undefined): string {
    if (typeof text !== 'string' || text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return this.#writeChunk({ [field]: text });
  }

  #writeArguments(call: OpenCall | undefined, text: Json | undefined): string {
    if (!call || typeof text !== 'string' || text === '') return '';
    call.hasSentInput = true;
    this.#outputBytes += Buffer.byteLength(text);
    return this.#writeCallPiece({ ...call, isFirst: false, name: undefined, arguments: text });
  }

  #writeCallPiece(piece: ToolCallPiece): string {
    const { index, id, isFirst, name, arguments: text } = piece;
    const custom = this.#customCalls?.toCallPiece(piece);
    if (custom) return this.#writeChunk({ tool_calls: [custom] });
    const fn = { ...(name !== undefined && { name }), arguments: text };
    return this.#writeChunk({
      tool_calls: [isFirst ? { index, id, type: 'function', function: fn } : { index, function: fn }],
    });
  }

  #writeChunk(delta: JsonObject): string {
    const first = !this.#hasStarted;
    this.#hasStarted = true;
    this.#hasContent ||= Object.keys(delta).length > 0;
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

  #addUsage(usage: Json | undefined): void {
    this.#usage = overlayUsage(this.#usage, usage);
  }
}
