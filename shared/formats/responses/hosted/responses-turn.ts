import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import { itemOf, type AnswerEvents } from './answer-events.ts';
import { begunItem, hostedItemId } from './hosted-item.ts';
import type { HostedFunction } from './hosted-functions.ts';
import { needsApproval } from './hosted-tools-of.ts';

/** A call that has begun. */
export interface BegunCall {
  call: HostedCall;
  /** Its position in the answer. */
  position: number;
  /** The id that the model knows it by. */
  callId: string;
}

export interface TurnParts {
  events: AnswerEvents;
  /** The function of this name that stands for a hosted tool. */
  functionNamed: (name: unknown) => HostedFunction | undefined;
  /** Called with the response object of the first event. */
  onCreated: (response: JsonObject) => string;
  /** The part of the answer's id that ids of its items contain. */
  answerPart: () => string;
}

/** Types of items that the client answers. */
const clientCalls: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call', 'tool_search_call']);

/**
 * One turn of the model in an answer with hosted tools. Calls of their functions become items of the hosted tool; all other
 * events pass, numbered through.
 */
export class ResponsesTurn {
  /** The items as the model wrote them. */
  readonly items: JsonObject[] = [];
  readonly calls: BegunCall[] = [];
  /** Whether the client has to answer: a call of its own, or a request for its approval. */
  asksClient = false;
  /** The response object at the end. */
  response: JsonObject = {};
  readonly #parts: TurnParts;
  /** Positions in the answer by those in the turn. */
  readonly #positions = new Map<unknown, number>();
  readonly #hidden = new Set<unknown>();

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** @throws RouterError `upstream_failed` for an event that makes no sense */
  event(event: JsonObject): string {
    const { type, output_index: index } = event;
    switch (type) {
      case 'response.created':
        return this.#parts.onCreated(responseOf(event));
      case 'response.in_progress':
        return '';
      case 'response.completed':
      case 'response.incomplete':
        this.response = responseOf(event);
        return '';
      case 'response.failed':
        throw new RouterError('upstream_failed', 'The upstream failed in the middle of its answer.');
      case 'response.output_item.added':
        return this.#added(event);
      case 'response.output_item.done':
        return this.#done(event);
      default:
        if (typeof type !== 'string')
          throw new RouterError('upstream_failed', 'The answer has an event without a type.');
        if (this.#hidden.has(index)) return '';
        return this.#parts.events.relay(event, this.#positions.get(index));
    }
  }

  #added(event: JsonObject): string {
    const { events, functionNamed } = this.#parts;
    const item = itemOf(event);
    if (item['type'] === 'function_call' && functionNamed(item['name'])) {
      this.#hidden.add(event['output_index']);
      return '';
    }
    const own = events.withOwnId(item);
    const position = events.add(own);
    this.#positions.set(event['output_index'], position);
    return events.item(position, 'response.output_item.added', own);
  }

  #done(event: JsonObject): string {
    const { events, functionNamed } = this.#parts;
    const item = itemOf(event);
    this.items.push(item);
    const called = item['type'] === 'function_call' ? functionNamed(item['name']) : undefined;
    if (called) return this.#begin(called, item);
    this.asksClient ||= clientCalls.has(item['type']);
    const position = this.#positions.get(event['output_index']) ?? events.add(item);
    return events.item(position, 'response.output_item.done', events.withOwnId(item));
  }

  #begin({ hosted, served, tool }: HostedFunction, item: JsonObject): string {
    const { events, answerPart } = this.#parts;
    const args = typeof item['arguments'] === 'string' ? item['arguments'] : '';
    const position = events.output.length;
    const isMcp = hosted.kind === 'mcp';
    if (isMcp && needsApproval(tool, served.ownName)) {
      this.asksClient = true;
      const id = hostedItemId('mcpr', answerPart(), position);
      const { label = '' } = hosted;
      return addWhole(events, {
        id,
        type: 'mcp_approval_request',
        server_label: label,
        name: served.ownName,
        arguments: args,
      });
    }
    const id = hostedItemId(isMcp ? 'mcp' : 'web_search', answerPart(), position);
    const call: HostedCall = { id, hosted, served, input: parsed(args) };
    const callId = typeof item['call_id'] === 'string' ? item['call_id'] : '';
    this.calls.push({ call, position, callId });
    return beginCall(events, call, args);
  }
}

/** Writes the events that begin the item of a call, at the next position. */
export function beginCall(events: AnswerEvents, call: HostedCall, args: string): string {
  const item = begunItem(call, args);
  const position = events.add(item);
  const added = (shown: JsonObject): string => events.item(position, 'response.output_item.added', shown);
  if (call.hosted.kind !== 'mcp') {
    return (
      added(item) +
      events.about(position, 'response.web_search_call.in_progress') +
      events.about(position, 'response.web_search_call.searching')
    );
  }
  const begun =
    added({ ...item, arguments: '' }) +
    events.about(position, 'response.mcp_call.in_progress') +
    events.about(position, 'response.mcp_call_arguments.delta', { delta: args }) +
    events.about(position, 'response.mcp_call_arguments.done', { arguments: args });
  events.output[position] = item;
  return begun;
}

/** Adds an item that is complete. */
function addWhole(events: AnswerEvents, item: JsonObject): string {
  const position = events.add(item);
  return (
    events.item(position, 'response.output_item.added', item) + events.item(position, 'response.output_item.done', item)
  );
}

function responseOf({ response }: JsonObject): JsonObject {
  return isJsonObject(response) ? response : {};
}

function parsed(json: string): JsonObject {
  try {
    const input: unknown = JSON.parse(json === '' ? '{}' : json);
    return isJsonObject(input) ? input : {};
  } catch {
    // The call lacks its input, and fails.
    return {};
  }
}
