import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, toObjectOrEmpty, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import type { AnswerWriter } from '../../answer-writer.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../../translation.ts';
import { adjustFinishReason } from '../../vocabulary/stop-reason.ts';
import { parseUpstreamEvent } from '../parse-upstream-json.ts';
import { readResponseFinishReason } from './responses-upstream.ts';
import {
  readArguments,
  readCallId,
  isCustomCall,
  readFunctionName,
  paragraphBreak,
  readTexts,
  readThinkingText,
} from './item-pieces.ts';
import { readFailure, readResponseError } from './upstream-error.ts';

/** The official SDKs accept indexes from 0 to 127. */
const maxCalls = 128;

/** The kinds of text in items. */
type TextKind = 'text' | 'refusal' | 'thinking';

interface OpenItem {
  /** Position of a call among the calls; -1 for other items. */
  callIndex: number;
  isCustom: boolean;
  callId: string;
  /** Number of characters that deltas have brought, for each kind of content. */
  text: number;
  refusal: number;
  thinking: number;
  arguments: number;
  /** The part of a summary or content that the last delta belonged to. */
  part: Json | undefined;
}

/**
 * Reads the stream of a Responses upstream for clients of other formats. Each delta is passed on at once. A finished item adds content that
 * came in no delta, because some servers send whole items.
 */
export class ResponsesReader implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #writer: AnswerWriter;
  readonly #filtersRefusals: boolean;
  readonly #items = new Map<Json | undefined, OpenItem>();
  #hasStarted = false;
  #callCount = 0;
  #hasRefused = false;
  #response: JsonObject | undefined;
  #outputBytes = 0;

  /**
   * @param filtersRefusals whether an answer with a refusal ends with `content_filter`, because the client format has a stop reason for
   * refusals
   */
  constructor(answerContext: AnswerContext, writer: AnswerWriter, filtersRefusals = false) {
    this.#answerContext = answerContext;
    this.#writer = writer;
    this.#filtersRefusals = filtersRefusals;
  }

  get hasContent(): boolean {
    return this.#writer.hasContent;
  }

  translateEvent(data: string): string {
    const event = parseUpstreamEvent(data);
    const begin = this.#hasStarted ? '' : this.#writer.begin(undefined);
    this.#hasStarted = true;
    return begin + this.#readEvent(event);
  }

  translateEnd(): { text: string; ending: Ending } {
    const response = this.#response;
    if (!response) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    const finishReason = adjustFinishReason(
      readResponseFinishReason(response, this.#callCount > 0),
      this.#filtersRefusals && this.#hasRefused,
    );
    const usage = fillUsage(readResponsesUsage(response), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const ending = { usage, finishReason };
    return { text: this.#writer.finish(ending, null), ending };
  }

  #readEvent(event: JsonObject): string {
    const { type, item } = event;
    switch (type) {
      case 'response.output_item.added':
        return isJsonObject(item) ? this.#beginItem(this.#openItem(event, item), item) : '';
      case 'response.output_item.done':
        return isJsonObject(item) ? this.#finishItem(event, item) : '';
      case 'response.output_text.delta':
        return this.#readTextDelta('text', event);
      case 'response.refusal.delta':
        return this.#readTextDelta('refusal', event);
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return this.#readThinkingDelta(event);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#addArguments(this.#findItem(event), event['delta']);
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        return this.#addUnsentArguments(this.#findItem(event), event);
      case 'response.completed':
      case 'response.incomplete':
        return this.#endResponse(event['response']);
      case 'response.failed':
        throw readFailure({ ...toObjectOrEmpty(event['response']), status: 'failed' });
      case 'error':
        throw readResponseError(event);
      default:
        return '';
    }
  }

  #openItem(event: JsonObject, item: JsonObject): OpenItem {
    const lengths = { text: 0, refusal: 0, thinking: 0, arguments: 0, part: undefined };
    const open = { callIndex: -1, isCustom: isCustomCall(item), callId: readCallId(item), ...lengths };
    this.#items.set(findKey(event, item), open);
    return open;
  }

  #beginItem(open: OpenItem, item: JsonObject): string {
    if (item['type'] === 'function_call' || open.isCustom) return this.#beginCall(open, item);
    // While the model thinks, an upstream that hides its thinking sends only this event.
    return item['type'] === 'reasoning' ? this.#writer.addThinking('') : '';
  }

  #beginCall(open: OpenItem, item: JsonObject): string {
    open.callIndex = this.#callCount++;
    if (this.#callCount > maxCalls) throw new RouterError('upstream_failed', 'The upstream sent too many tool calls.');
    const args = readArguments(item);
    const name = readFunctionName(item);
    open.arguments = args.length;
    this.#outputBytes += Buffer.byteLength(name + args);
    const call = { index: open.callIndex, isFirst: true, id: open.callId, name, arguments: args };
    return this.#writer.addCall(call, open.isCustom);
  }

  #finishItem(event: JsonObject, item: JsonObject): string {
    const open = this.#items.get(findKey(event, item));
    return open ? this.#addUnsent(open, item) : this.#readWhole(event, item);
  }

  #readWhole(event: JsonObject, item: JsonObject): string {
    const open = this.#openItem(event, item);
    return this.#beginItem(open, item) + this.#addUnsent(open, item);
  }

  /** Adds the content of a finished item that came in no delta. */
  #addUnsent(open: OpenItem, item: JsonObject): string {
    switch (item['type']) {
      case 'message': {
        const { text, refusal } = readTexts(item);
        return this.#addUnsentText(open, 'text', text) + this.#addUnsentText(open, 'refusal', refusal);
      }
      case 'reasoning': {
        const unsent = this.#addUnsentText(open, 'thinking', readThinkingText(item));
        this.#writer.sign?.(item);
        return unsent;
      }
      case 'function_call':
      case 'custom_tool_call':
        return this.#addUnsentArguments(open, item);
      default:
        return '';
    }
  }

  #addUnsentText(open: OpenItem, kind: TextKind, whole: string): string {
    if (open[kind] > 0 || whole === '') return '';
    open[kind] = whole.length;
    return this.#addText(kind, whole);
  }

  #readTextDelta(kind: 'text' | 'refusal', event: JsonObject): string {
    const { delta } = event;
    if (typeof delta !== 'string' || delta === '') return '';
    const open = this.#findItem(event);
    if (open) open[kind] += delta.length;
    return this.#addText(kind, delta);
  }

  #readThinkingDelta(event: JsonObject): string {
    const { delta, summary_index: summary, content_index: content } = event;
    if (typeof delta !== 'string' || delta === '') return '';
    const open = this.#findItem(event);
    const part = summary ?? content;
    const beginsPart = open !== undefined && open.thinking > 0 && open.part !== part;
    if (open) {
      open.part = part;
      open.thinking += delta.length;
    }
    return this.#addText('thinking', beginsPart ? paragraphBreak + delta : delta);
  }

  #addText(kind: TextKind, text: string): string {
    this.#outputBytes += Buffer.byteLength(text);
    switch (kind) {
      case 'text':
        return this.#writer.addText(text);
      case 'refusal':
        this.#hasRefused = true;
        return this.#writer.addRefusal(text);
      case 'thinking':
        return this.#writer.addThinking(text);
    }
  }

  #addArguments(open: OpenItem | undefined, delta: Json | undefined): string {
    if (!open || open.callIndex < 0 || typeof delta !== 'string' || delta === '') return '';
    open.arguments += delta.length;
    this.#outputBytes += Buffer.byteLength(delta);
    const call = { index: open.callIndex, isFirst: false, id: open.callId, name: undefined, arguments: delta };
    return this.#writer.addCall(call, open.isCustom);
  }

  #addUnsentArguments(open: OpenItem | undefined, whole: JsonObject): string {
    return this.#addArguments(open, readArguments(whole).slice(open?.arguments ?? 0));
  }

  #findItem(event: JsonObject): OpenItem | undefined {
    return this.#items.get(event['item_id'] ?? event['output_index']) ?? this.#items.get(event['output_index']);
  }

  /** Reads the items of the whole response if no event brought an item. */
  #endResponse(response: Json | undefined): string {
    const failure = readFailure(response);
    if (failure) throw failure;
    this.#response = toObjectOrEmpty(response);
    const { output } = this.#response;
    if (this.#items.size > 0 || !Array.isArray(output)) return '';
    let events = '';
    for (const [position, item] of output.entries()) {
      if (isJsonObject(item)) events += this.#readWhole({ output_index: position }, item);
    }
    return events;
  }
}

/** Returns the id of an item; for a server without ids, its index. */
function findKey(event: JsonObject, item: JsonObject): Json | undefined {
  return item['id'] ?? event['output_index'];
}
