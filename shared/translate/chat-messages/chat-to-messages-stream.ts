import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, writeChatUsage, writeChatUsageDetails } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { upstreamErrorFromMessagesEvent } from '../upstreams/messages/upstream-error.ts';
import { readMessagesUsage, overlayUsage } from '#shared/formats/messages/usage.ts';
import type { ToolCallPiece } from '../upstreams/chat/tool-call-order.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { refusalText, finishReasonFor } from '../vocabulary/stop-reason.ts';
import { CustomCalls } from '../vocabulary/custom-calls.ts';
import { toolArguments } from '../vocabulary/tool-call.ts';

interface OpenCall {
  /** Position among the calls of the answer. */
  index: number;
  id: string;
  /** The whole input, if the block's start contains it. Sent at the block's end unless fragments arrive. */
  input: JsonObject;
  sent: boolean;
}

/**
 * Translates a `messages` upstream's stream for chat clients: text becomes `content`, thinking becomes `reasoning_content`, and every
 * `tool_use` block becomes a tool call with the next index. Omits signatures, citations and pings.
 */
export class ChatToMessagesStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #openCalls = new Map<Json | undefined, OpenCall>();
  readonly #custom: CustomCalls | undefined;
  #started = false;
  #hasContent = false;
  #complete = false;
  #calls = 0;
  #stopReason: Json | undefined;
  #usage: JsonObject = {};
  #outputBytes = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
    this.#custom = CustomCalls.of(answerContext.recalled);
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    const event = parseUpstreamEvent(data);
    switch (event['type']) {
      case 'message_start':
        if (isJsonObject(event['message'])) this.#overlay(event['message']['usage']);
        return this.#chunk({});
      case 'content_block_start':
        return isJsonObject(event['content_block']) ? this.#open(event['index'], event['content_block']) : '';
      case 'content_block_delta':
        return isJsonObject(event['delta']) ? this.#delta(event['index'], event['delta']) : '';
      case 'content_block_stop':
        return this.#close(event['index']);
      case 'message_delta':
        return this.#messageDelta(event);
      case 'message_stop':
        this.#complete = true;
        return '';
      case 'error':
        throw upstreamErrorFromMessagesEvent(event);
      default:
        return '';
    }
  }

  end(): { text: string; ending: Ending } {
    if (!this.#started || (!this.#complete && this.#stopReason === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = finishReasonFor(this.#stopReason, this.#calls > 0);
    const usage = fillUsage(readMessagesUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const written = writeChatUsage(usage, writeChatUsageDetails(usage));
    const rest = this.#custom?.rest() ?? [];
    const inputs = rest.length === 0 ? '' : this.#chunk({ tool_calls: rest });
    const text = inputs + writeChatEnding(this.#frame({}, finishReason), written, this.#answerContext.usageChunk);
    return { text, ending: { usage, finishReason } };
  }

  #open(block: Json | undefined, content: JsonObject): string {
    switch (content['type']) {
      case 'text':
        return this.#text('content', content['text']);
      case 'thinking':
        // An upstream that omits the text of its thinking sends nothing else while the model thinks.
        this.#hasContent = true;
        return this.#text('reasoning_content', content['thinking']);
      case 'tool_use': {
        const { id, name, input } = content;
        const call = {
          index: this.#calls++,
          id: typeof id === 'string' ? id : '',
          input: isJsonObject(input) ? input : {},
          sent: false,
        };
        this.#openCalls.set(block, call);
        const called = typeof name === 'string' ? name : '';
        this.#outputBytes += Buffer.byteLength(called);
        return this.#piece({ ...call, first: true, name: called, arguments: '' });
      }
      default:
        return '';
    }
  }

  #delta(block: Json | undefined, delta: JsonObject): string {
    switch (delta['type']) {
      case 'text_delta':
        return this.#text('content', delta['text']);
      case 'thinking_delta':
        return this.#text('reasoning_content', delta['thinking']);
      case 'input_json_delta':
        return this.#arguments(this.#openCalls.get(block), delta['partial_json']);
      default:
        return '';
    }
  }

  /** Ends a call. In the chat format, a call without arguments has an empty object. */
  #close(block: Json | undefined): string {
    const call = this.#openCalls.get(block);
    if (!this.#openCalls.delete(block) || !call || call.sent) return '';
    return this.#arguments(call, toolArguments(call.input));
  }

  #messageDelta(event: JsonObject): string {
    this.#overlay(event['usage']);
    const delta = isJsonObject(event['delta']) ? event['delta'] : {};
    if (typeof delta['stop_reason'] === 'string') this.#stopReason = delta['stop_reason'];
    return this.#text('refusal', refusalText(delta));
  }

  #text(field: 'content' | 'reasoning_content' | 'refusal', text: Json | undefined): string {
    if (typeof text !== 'string' || text === '') return '';
    this.#outputBytes += Buffer.byteLength(text);
    return this.#chunk({ [field]: text });
  }

  #arguments(call: OpenCall | undefined, text: Json | undefined): string {
    if (!call || typeof text !== 'string' || text === '') return '';
    call.sent = true;
    this.#outputBytes += Buffer.byteLength(text);
    return this.#piece({ ...call, first: false, name: undefined, arguments: text });
  }

  #piece(piece: ToolCallPiece): string {
    const { index, id, first, name, arguments: text } = piece;
    const custom = this.#custom?.piece(piece);
    if (custom) return this.#chunk({ tool_calls: [custom] });
    const fn = { ...(name !== undefined && { name }), arguments: text };
    return this.#chunk({
      tool_calls: [first ? { index, id, type: 'function', function: fn } : { index, function: fn }],
    });
  }

  #chunk(delta: JsonObject): string {
    const first = !this.#started;
    this.#started = true;
    this.#hasContent ||= Object.keys(delta).length > 0;
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

  #overlay(usage: Json | undefined): void {
    this.#usage = overlayUsage(this.#usage, usage);
  }
}
