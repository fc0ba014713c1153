import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { overlayUsage, readMessagesUsage } from '#shared/formats/messages/usage.ts';
import type { AnswerWriter } from '../../answer-writer.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../../translation.ts';
import { readRefusalText, toFinishReason } from '../../vocabulary/stop-reason.ts';
import { writeToolArguments, parseToolInput } from '../../vocabulary/tool-call.ts';
import { parseUpstreamEvent } from '../parse-upstream-json.ts';
import { readMessagesEventError } from './upstream-error.ts';

/** A block that is being received and needs more than its text. */
type OpenBlock =
  | { type: 'thinking'; signature: string }
  /** `input`: the input at the start of the block, which counts if no pieces follow. */
  | { type: 'tool_use'; index: number; id: string; input: JsonObject; hasSentInput: boolean }
  /** `json`: the input so far of a call that the upstream runs. */
  | { type: 'server_tool_use'; block: JsonObject; json: string };

/**
 * Reads the answer of a `messages` upstream for clients of other formats. Omits pings, citations, and the results of tools that run on the
 * upstream.
 */
export class MessagesReader implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #writer: AnswerWriter;
  readonly #openBlocks = new Map<Json | undefined, OpenBlock>();
  #hasStarted = false;
  #isComplete = false;
  #callCount = 0;
  #stopReason: Json | undefined;
  #usage: JsonObject = {};
  #outputBytes = 0;

  constructor(answerContext: AnswerContext, writer: AnswerWriter) {
    this.#answerContext = answerContext;
    this.#writer = writer;
  }

  get hasContent(): boolean {
    return this.#writer.hasContent;
  }

  translateEvent(data: string): string {
    const event = parseUpstreamEvent(data);
    const { type, index, delta } = event;
    switch (type) {
      case 'message_start':
        if (isJsonObject(event['message'])) this.#addUsage(event['message']);
        return this.#begin();
      case 'content_block_start': {
        const { content_block: block } = event;
        return this.#begin() + (isJsonObject(block) ? this.#openBlock(index, block) : '');
      }
      case 'content_block_delta':
        return this.#begin() + (isJsonObject(delta) ? this.#readDelta(index, delta) : '');
      case 'content_block_stop':
        return this.#closeBlock(index);
      case 'message_delta':
        this.#addUsage(event);
        return isJsonObject(delta) ? this.#readEnd(delta) : '';
      case 'message_stop':
        this.#isComplete = true;
        return '';
      case 'error':
        throw readMessagesEventError(event);
      default:
        return '';
    }
  }

  translateEnd(): { text: string; ending: Ending } {
    if (!this.#hasStarted || (!this.#isComplete && this.#stopReason === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    return this.#finish();
  }

  /**
   * Reads an answer that is not streamed.
   * @throws RouterError with the error that the body reports; `upstream_failed` if the body is not an answer
   */
  readWhole(body: JsonObject): Ending {
    const failure = readMessagesEventError(body);
    if (failure) throw failure;
    const { content } = body;
    if (!Array.isArray(content)) {
      throw new RouterError('upstream_failed', 'The upstream sent an answer without content.');
    }
    for (const [index, block] of content.entries()) {
      if (!isJsonObject(block)) continue;
      this.#openBlock(index, block);
      this.#closeBlock(index);
    }
    this.#addUsage(body);
    this.#readEnd(body);
    return this.#finish().ending;
  }

  #begin(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    return this.#writer.begin(readMessagesUsage(this.#usage));
  }

  /** Begins a block. The block may already have content. */
  #openBlock(index: Json | undefined, block: JsonObject): string {
    switch (block['type']) {
      case 'text':
        return this.#addText(block['text']);
      case 'thinking':
        this.#openBlocks.set(index, { type: 'thinking', signature: readText(block['signature']) });
        // While the model thinks, an upstream that hides its thinking sends only this start of a block.
        return this.#writer.addThinking(this.#readCounted(block['thinking']));
      case 'redacted_thinking':
        this.#writer.sign?.(block);
        return '';
      case 'tool_use':
        return this.#beginCall(index, block);
      case 'server_tool_use':
        this.#openBlocks.set(index, { type: 'server_tool_use', block, json: '' });
        return '';
      default:
        return '';
    }
  }

  #readDelta(index: Json | undefined, delta: JsonObject): string {
    switch (delta['type']) {
      case 'text_delta':
        return this.#addText(delta['text']);
      case 'thinking_delta':
        return this.#writer.addThinking(this.#readCounted(delta['thinking']));
      case 'signature_delta': {
        const open = this.#openBlocks.get(index);
        if (open?.type === 'thinking') open.signature += readText(delta['signature']);
        return '';
      }
      case 'input_json_delta': {
        const open = this.#openBlocks.get(index);
        const json = readText(delta['partial_json']);
        if (open?.type === 'server_tool_use') open.json += json;
        return open?.type === 'tool_use' ? this.#addArguments(open, json) : '';
      }
      default:
        return '';
    }
  }

  #closeBlock(index: Json | undefined): string {
    const open = this.#openBlocks.get(index);
    if (!open) return '';
    this.#openBlocks.delete(index);
    switch (open.type) {
      case 'thinking':
        if (open.signature !== '') this.#writer.sign?.(open);
        return '';
      case 'tool_use':
        return open.hasSentInput ? '' : this.#addArguments(open, writeToolArguments(open.input));
      case 'server_tool_use':
        return this.#addSearch(open);
    }
  }

  #addText(value: Json | undefined): string {
    const text = this.#readCounted(value);
    return text === '' ? '' : this.#writer.addText(text);
  }

  #beginCall(block: Json | undefined, { id, name, input }: JsonObject): string {
    const call = { index: this.#callCount++, id: readText(id) };
    this.#openBlocks.set(block, {
      type: 'tool_use',
      ...call,
      input: isJsonObject(input) ? input : {},
      hasSentInput: false,
    });
    return this.#writer.addCall({ ...call, isFirst: true, name: this.#readCounted(name), arguments: '' });
  }

  #addArguments(call: OpenBlock & { type: 'tool_use' }, text: string): string {
    if (text === '') return '';
    call.hasSentInput = true;
    const { index, id } = call;
    return this.#writer.addCall({ index, id, isFirst: false, name: undefined, arguments: this.#readCounted(text) });
  }

  #addSearch({ block, json }: OpenBlock & { type: 'server_tool_use' }): string {
    if (block['name'] !== 'web_search') return '';
    const input = json === '' ? block['input'] : parseToolInput(json);
    return this.#writer.addSearch?.(isJsonObject(input) ? readText(input['query']) : '') ?? '';
  }

  #addUsage({ usage }: JsonObject): void {
    this.#usage = overlayUsage(this.#usage, usage);
  }

  /** @param endFields has the fields `stop_reason` and `stop_details` of the upstream */
  #readEnd(endFields: JsonObject): string {
    if (typeof endFields['stop_reason'] === 'string') this.#stopReason = endFields['stop_reason'];
    const refusal = this.#readCounted(readRefusalText(endFields));
    return refusal === '' ? '' : this.#writer.addRefusal(refusal);
  }

  #finish(): { text: string; ending: Ending } {
    const usage = fillUsage(readMessagesUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const ending = { usage, finishReason: toFinishReason(this.#stopReason, this.#callCount > 0) };
    return { text: this.#writer.finish(ending, null), ending };
  }

  /** Returns a text of the answer; '' for any other value. Adds the bytes of the text to the estimate of output tokens. */
  #readCounted(value: Json | undefined): string {
    const text = readText(value);
    if (text !== '') this.#outputBytes += Buffer.byteLength(text);
    return text;
  }
}

function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
