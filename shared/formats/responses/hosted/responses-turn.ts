import { RouterError } from '#shared/core/errors.ts';
import { parseIfJson, toObjectOrEmpty, type JsonObject } from '#shared/core/json.ts';
import type { SearchResult } from '../../hosted/hosted-outcome.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import { readItem, type AnswerEvents } from './answer-events.ts';
import { createInProgressItem, createItemId } from './hosted-item.ts';
import type { HostedFunction } from './hosted-functions.ts';
import { needsApproval } from './find-hosted-tools.ts';
import { addItemCitations, addCitations, createUrlCitations } from './url-citations.ts';

export interface OpenCall {
  call: HostedCall;
  /** The position of the call's item in the answer. */
  position: number;
  /** The model's id of the call. */
  callId: string;
}

export interface TurnOptions {
  events: AnswerEvents;
  /** Returns the hosted tool's function with this name; undefined if there is none. */
  findFunction: (name: unknown) => HostedFunction | undefined;
  /** Called with the response object of the first event. Returns the events that begin the answer. */
  onCreated: (response: JsonObject) => string;
  /** Returns the part of the answer's id that the ids of its items contain. */
  readIdPart: () => string;
  /** Search results of earlier turns. A text that names the address of such a result gets an annotation. */
  searchResults: readonly SearchResult[];
}

const clientCalls: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call', 'tool_search_call']);

/**
 * One turn of the model in an answer with hosted tools. Function calls of hosted tools become items of these tools. All other events reach
 * the client with new numbers.
 */
export class ResponsesTurn {
  /** The items as the model wrote them. */
  readonly items: JsonObject[] = [];
  readonly calls: OpenCall[] = [];
  /** Whether the client must answer a call of its own tool, or an approval request. */
  hasClientRequests = false;
  /** The response object of the last event, without the items of its output. */
  response: JsonObject = {};
  /** Bytes of the items and of the response object. */
  keptBytes = 0;
  readonly #parts: TurnOptions;
  /** Maps positions in the turn to positions in the answer. */
  readonly #positions = new Map<unknown, number>();
  readonly #hiddenPositions = new Set<unknown>();
  /** Keys of the texts with annotations of the upstream, see `toTextKey`. */
  readonly #annotatedTexts = new Set<string>();

  constructor(parts: TurnOptions) {
    this.#parts = parts;
  }

  /** @throws RouterError `upstream_failed` for an invalid event */
  relayEvent(event: JsonObject): string {
    const { type } = event;
    switch (type) {
      case 'response.created':
        return this.#parts.onCreated(toObjectOrEmpty(event['response']));
      case 'response.in_progress':
        return '';
      case 'response.completed':
      case 'response.incomplete':
        this.#endResponse(toObjectOrEmpty(event['response']));
        return '';
      case 'response.failed':
        throw new RouterError('upstream_failed', 'The upstream failed in the middle of its answer.');
      case 'response.output_text.annotation.added':
        this.#annotatedTexts.add(toTextKey(event));
        return this.#relay(event);
      case 'response.output_text.done':
        return this.#writeAnnotations(event) + this.#relay(event);
      case 'response.content_part.done':
        return this.#relay({ ...event, part: addCitations(event['part'] ?? null, this.#parts.searchResults) });
      case 'response.output_item.added':
        return this.#addItem(event);
      case 'response.output_item.done': {
        const events = this.#endItem(event);
        this.keptBytes += events.length;
        return events;
      }
      default:
        if (typeof type !== 'string')
          throw new RouterError('upstream_failed', 'The answer has an event without a type.');
        return this.#relay(event);
    }
  }

  #endResponse(wholeResponse: JsonObject): void {
    const { output: _, ...response } = wholeResponse;
    this.response = response;
    this.keptBytes += JSON.stringify(response).length;
  }

  #relay(event: JsonObject): string {
    const { output_index: index } = event;
    return this.#hiddenPositions.has(index) ? '' : this.#parts.events.writeRelayed(event, this.#positions.get(index));
  }

  /** Writes the annotations of a complete text, unless the upstream has added some. */
  #writeAnnotations(event: JsonObject): string {
    const { output_index, item_id, content_index, text } = event;
    if (typeof text !== 'string' || this.#annotatedTexts.has(toTextKey(event))) return '';
    return createUrlCitations(text, this.#parts.searchResults)
      .map((annotation, at) =>
        this.#relay({
          type: 'response.output_text.annotation.added',
          ...(output_index !== undefined && { output_index }),
          ...(item_id !== undefined && { item_id }),
          ...(content_index !== undefined && { content_index }),
          annotation_index: at,
          annotation,
        }),
      )
      .join('');
  }

  #addItem(event: JsonObject): string {
    const { events, findFunction } = this.#parts;
    const item = readItem(event);
    if (item['type'] === 'function_call' && findFunction(item['name'])) {
      this.#hiddenPositions.add(event['output_index']);
      return '';
    }
    const uniqueItem = events.withUniqueId(item);
    const position = events.add(uniqueItem);
    this.#positions.set(event['output_index'], position);
    return events.writeItem(position, 'response.output_item.added', uniqueItem);
  }

  #endItem(event: JsonObject): string {
    const { events, findFunction } = this.#parts;
    const item = readItem(event);
    this.items.push(item);
    const hostedFunction = item['type'] === 'function_call' ? findFunction(item['name']) : undefined;
    if (hostedFunction) return this.#beginHostedCall(hostedFunction, item);
    this.hasClientRequests ||= clientCalls.has(item['type']);
    const position = this.#positions.get(event['output_index']) ?? events.add(item);
    const citedItem = addItemCitations(item, this.#parts.searchResults);
    return events.writeItem(position, 'response.output_item.done', events.withUniqueId(citedItem));
  }

  #beginHostedCall({ hosted, servedTool, tool }: HostedFunction, item: JsonObject): string {
    const { events, readIdPart } = this.#parts;
    const args = typeof item['arguments'] === 'string' ? item['arguments'] : '';
    const position = events.output.length;
    const isMcp = hosted.kind === 'mcp';
    if (isMcp && needsApproval(tool, servedTool.nameAtServer)) {
      this.hasClientRequests = true;
      const id = createItemId('mcpr', readIdPart(), position);
      const { label = '' } = hosted;
      return writeWholeItem(events, {
        id,
        type: 'mcp_approval_request',
        server_label: label,
        name: servedTool.nameAtServer,
        arguments: args,
      });
    }
    const id = createItemId(isMcp ? 'mcp' : 'web_search', readIdPart(), position);
    const call: HostedCall = { id, hosted, servedTool, input: toObjectOrEmpty(parseIfJson(args)) };
    const callId = typeof item['call_id'] === 'string' ? item['call_id'] : '';
    this.calls.push({ call, position, callId });
    return beginCall(events, call, args);
  }
}

/** Adds the item of a call to the answer, and writes the events that begin the item. */
export function beginCall(events: AnswerEvents, call: HostedCall, args: string): string {
  const item = createInProgressItem(call, args);
  const position = events.add(item);
  const writeAdded = (shownItem: JsonObject): string =>
    events.writeItem(position, 'response.output_item.added', shownItem);
  if (call.hosted.kind !== 'mcp') {
    return (
      writeAdded(item) +
      events.writeEventAt(position, 'response.web_search_call.in_progress') +
      events.writeEventAt(position, 'response.web_search_call.searching')
    );
  }
  const beginning =
    writeAdded({ ...item, arguments: '' }) +
    events.writeEventAt(position, 'response.mcp_call.in_progress') +
    events.writeEventAt(position, 'response.mcp_call_arguments.delta', { delta: args }) +
    events.writeEventAt(position, 'response.mcp_call_arguments.done', { arguments: args });
  events.output[position] = item;
  return beginning;
}

function writeWholeItem(events: AnswerEvents, item: JsonObject): string {
  const position = events.add(item);
  return (
    events.writeItem(position, 'response.output_item.added', item) +
    events.writeItem(position, 'response.output_item.done', item)
  );
}

/** Returns a key that identifies a text within the turn. */
function toTextKey({ output_index: item, content_index: part }: JsonObject): string {
  return JSON.stringify([item, part]);
}
