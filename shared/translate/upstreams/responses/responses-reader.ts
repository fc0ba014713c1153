import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { FinishReason } from '../chat/finish-reason.ts';
import { parseUpstreamEvent } from '../parse-upstream-json.ts';
import { readResponseFinishReason } from './response-finish-reason.ts';
import {
  readArguments,
  readCallId,
  isCustomCall,
  readFunctionName,
  paragraphBreak,
  toPieces,
  readTexts,
  readThinkingText,
  type ResponsesPiece,
} from './item-pieces.ts';
import { readFailure, upstreamErrorFromResponse } from './upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';

/** The official SDKs accept indexes from 0 to 127. */
const maxCalls = 128;

interface OpenItem {
  /** Position of a call among the calls; -1 for other items. */
  callIndex: number;
  isCustom: boolean;
  callId: string;
  /** Numbers of characters that deltas have brought, for each kind of content. */
  text: number;
  refusal: number;
  thinking: number;
  arguments: number;
  /** The part of a summary or content that the last delta belonged to. */
  part: Json | undefined;
}

/**
 * Reads the stream of a Responses upstream for clients of other formats. Each delta is a piece at once. A finished item adds the content
 * that no delta has brought, because some servers send whole items.
 */
export class ResponsesReader {
  readonly #items = new Map<Json | undefined, OpenItem>();
  #callCount = 0;
  #refused = false;
  #response: JsonObject | undefined;

  get isComplete(): boolean {
    return this.#response !== undefined;
  }

  get hasRefused(): boolean {
    return this.#refused;
  }

  get usage(): Usage | undefined {
    return this.#response && readResponsesUsage(this.#response);
  }

  get finishReason(): FinishReason {
    return readResponseFinishReason(this.#response, this.#callCount > 0);
  }

  /**
   * Returns the pieces of the answer in an event's data.
   * @throws RouterError with the error that the event or a failed response reports
   */
  read(data: string): ResponsesPiece[] {
    const event = parseUpstreamEvent(data);
    switch (event['type']) {
      case 'response.output_item.added':
        return isJsonObject(event['item']) ? this.#begin(event, event['item']) : [];
      case 'response.output_item.done':
        return isJsonObject(event['item']) ? this.#finish(event, event['item']) : [];
      case 'response.output_text.delta':
        return this.#readTextDelta('text', event);
      case 'response.refusal.delta':
        return this.#readTextDelta('refusal', event);
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return this.#readThinkingDelta(event);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#readArgumentsDelta(this.#findItem(event), event['delta']);
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        return this.#readUnsentArguments(this.#findItem(event), event);
      case 'response.completed':
      case 'response.incomplete':
        return this.#endResponse(event['response']);
      case 'response.failed':
        throw readFailure({ ...toObject(event['response']), status: 'failed' });
      case 'error':
        throw upstreamErrorFromResponse(event);
      default:
        return [];
    }
  }

  #begin(event: JsonObject, item: JsonObject): ResponsesPiece[] {
    const lengths = { text: 0, refusal: 0, thinking: 0, arguments: 0, part: undefined };
    const open = { callIndex: -1, isCustom: isCustomCall(item), callId: readCallId(item), ...lengths };
    this.#items.set(keyOf(event, item), open);
    if (item['type'] === 'function_call' || open.isCustom) return this.#beginCall(open, item);
    // While the model thinks, an upstream that shows none of its thinking sends nothing but this event. The empty piece shows that it is
    // active.
    return item['type'] === 'reasoning' ? [{ kind: 'thinking', text: '' }] : [];
  }

  #beginCall(open: OpenItem, item: JsonObject): ResponsesPiece[] {
    open.callIndex = this.#callCount++;
    if (this.#callCount > maxCalls) throw new RouterError('upstream_failed', 'The upstream sent too many tool calls.');
    const args = readArguments(item);
    open.arguments = args.length;
    const call = {
      index: open.callIndex,
      isFirst: true,
      id: open.callId,
      name: readFunctionName(item),
      arguments: args,
    };
    return [{ kind: 'call', call, isCustom: open.isCustom }];
  }

  /** Returns the pieces of a finished item's content that no delta has brought. */
  #finish(event: JsonObject, item: JsonObject): ResponsesPiece[] {
    const begun = this.#items.has(keyOf(event, item)) ? [] : this.#begin(event, item);
    const open = this.#items.get(keyOf(event, item));
    switch (item['type']) {
      case 'message': {
        const { text, refusal } = readTexts(item);
        return [...this.#readUnsentText(open, 'text', text), ...this.#readUnsentText(open, 'refusal', refusal)];
      }
      case 'reasoning':
        return [...this.#readUnsentText(open, 'thinking', readThinkingText(item)), { kind: 'thought', item }];
      case 'function_call':
      case 'custom_tool_call':
        return [...begun, ...this.#readUnsentArguments(open, item)];
      default:
        return [];
    }
  }

  #readUnsentText(open: OpenItem | undefined, kind: 'text' | 'refusal' | 'thinking', whole: string): ResponsesPiece[] {
    if (!open || open[kind] > 0 || whole === '') return [];
    open[kind] = whole.length;
    this.#refused ||= kind === 'refusal';
    return [{ kind, text: whole }];
  }

  #readTextDelta(kind: 'text' | 'refusal', event: JsonObject): ResponsesPiece[] {
    const { delta } = event;
    const open = this.#findItem(event);
    if (typeof delta !== 'string' || delta === '') return [];
    if (open) open[kind] += delta.length;
    this.#refused ||= kind === 'refusal';
    return [{ kind, text: delta }];
  }

  #readThinkingDelta(event: JsonObject): ResponsesPiece[] {
    const { delta, summary_index: summary, content_index: content } = event;
    const open = this.#findItem(event);
    if (typeof delta !== 'string' || delta === '') return [];
    const part = summary ?? content;
    const begins = open !== undefined && open.thinking > 0 && open.part !== part;
    if (open) {
      open.part = part;
      open.thinking += delta.length;
    }
    return [{ kind: 'thinking', text: begins ? paragraphBreak + delta : delta }];
  }

  #readArgumentsDelta(open: OpenItem | undefined, delta: Json | undefined): ResponsesPiece[] {
    if (!open || open.callIndex < 0 || typeof delta !== 'string' || delta === '') return [];
    open.arguments += delta.length;
    const call = { index: open.callIndex, isFirst: false, id: open.callId, name: undefined, arguments: delta };
    return [{ kind: 'call', call, isCustom: open.isCustom }];
  }

  #readUnsentArguments(open: OpenItem | undefined, whole: JsonObject): ResponsesPiece[] {
    return this.#readArgumentsDelta(open, readArguments(whole).slice(open?.arguments ?? 0));
  }

  #findItem(event: JsonObject): OpenItem | undefined {
    return this.#items.get(event['item_id'] ?? event['output_index']) ?? this.#items.get(event['output_index']);
  }

  #endResponse(response: Json | undefined): ResponsesPiece[] {
    const failure = readFailure(response);
    if (failure) throw failure;
    this.#response = toObject(response);
    const { output } = this.#response;
    if (this.#items.size > 0 || !Array.isArray(output)) return [];
    const pieces = toPieces(output);
    this.#callCount = pieces.filter(({ kind }) => kind === 'call').length;
    this.#refused = pieces.some((piece) => piece.kind === 'refusal' && piece.text !== '');
    return pieces;
  }
}

function toObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Identifies an item by its id, or by its index on a server without ids. */
function keyOf(event: JsonObject, item: JsonObject): Json | undefined {
  return item['id'] ?? event['output_index'];
}
