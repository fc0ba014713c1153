import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { overlayUsage } from '#shared/formats/messages/usage.ts';
import type { Ending, StreamTranslation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import { assembleMessage } from '#shared/translate/upstreams/messages/assemble-message.ts';
import { messagesUpstream } from '#shared/translate/upstreams/messages/messages-upstream.ts';
import { parseUpstreamEvent } from '#shared/translate/upstreams/parse-upstream-json.ts';

/** Maximum continuations of one turn. After that, a paused turn ends as if it were complete. */
const maxContinuations = 8;

/**
 * A turn of a messages upstream that runs tools itself. After many tool runs, the upstream pauses the turn (`stop_reason: "pause_turn"`).
 * The upstream continues the turn when it gets its own message back. The client gets one answer, with the usage of all messages of the
 * turn.
 */
export class PausableTurn {
  readonly #request: JsonObject;
  readonly #write: (request: JsonObject) => Buffer[];
  readonly #content: Json[] = [];
  #usage: JsonObject = {};
  #continuations = 0;

  private constructor(request: JsonObject, write: (request: JsonObject) => Buffer[]) {
    this.#request = request;
    this.#write = write;
  }

  /**
   * Returns undefined for a request whose turn cannot pause, or whose client continues the turn itself, as clients of the messages format do.
   * @param request the request as sent to the upstream
   */
  static createFor(
    upstream: HttpUpstreamFormat,
    client: ClientFormat,
    request: JsonObject,
    write: (request: JsonObject) => Buffer[],
  ): PausableTurn | undefined {
    if (upstream !== messagesUpstream || client === messagesFormat) return undefined;
    const { tools } = request;
    return Array.isArray(tools) && tools.some(isRunByUpstream) ? new PausableTurn(request, write) : undefined;
  }

  /** Whether the turn had more than one message. */
  get isContinued(): boolean {
    return this.#continuations > 0;
  }

  /** The number of blocks before the current message. */
  get blockCount(): number {
    return this.#content.length;
  }

  /** Adds a message of the upstream to the turn. Returns whether the upstream has paused the turn, which must then be continued. */
  addMessage(message: JsonObject): boolean {
    this.#content.push(...(Array.isArray(message['content']) ? message['content'] : []));
    this.#usage = addUsageCounts(this.#usage, isJsonObject(message['usage']) ? message['usage'] : {});
    const isPaused = message['stop_reason'] === 'pause_turn' && this.#continuations < maxContinuations;
    if (isPaused) this.#continuations += 1;
    return isPaused;
  }

  /** Builds the body of the request that continues the turn. */
  writeContinuation(): Buffer[] {
    const { messages } = this.#request;
    const assistantTurn = { role: 'assistant', content: this.#content };
    return this.#write({ ...this.#request, messages: [...(Array.isArray(messages) ? messages : []), assistantTurn] });
  }

  /** Returns the fields of the answer to which all messages of the turn contribute. */
  computeTurnFields(): { content: Json[]; usage: JsonObject } {
    return { content: this.#content, usage: this.#usage };
  }
}

/** Translates the streams of all messages of a turn as one stream. */
export class PausableStream implements StreamTranslation {
  readonly keepsEvents = true;
  readonly #inner: StreamTranslation;
  readonly #turn: PausableTurn;
  /** Events of the current message. */
  #events: JsonObject[] = [];
  #isPaused = false;

  constructor(inner: StreamTranslation, turn: PausableTurn) {
    this.#inner = inner;
    this.#turn = turn;
  }

  get hasContent(): boolean {
    return this.#inner.hasContent;
  }

  /** Whether the current message has ended but the turn continues. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  translateEvent(data: string): string {
    const event = parseUpstreamEvent(data);
    if (this.#isPaused && event['type'] === 'message_stop') return '';
    if (event['type'] === 'message_start') this.#isPaused = false;
    const blocksBefore = this.#turn.blockCount;
    this.#events.push(event);
    switch (event['type']) {
      case 'message_start':
        return this.#turn.isContinued ? '' : this.#inner.translateEvent(data);
      case 'message_delta':
        return this.#endMessage(event);
      default:
        if (blocksBefore === 0 || typeof event['index'] !== 'number') return this.#inner.translateEvent(data);
        return this.#inner.translateEvent(JSON.stringify({ ...event, index: event['index'] + blocksBefore }));
    }
  }

  /** Ends the answer. The result has no meaning while the turn is paused. */
  translateEnd(): { text: string; ending: Ending } {
    return this.#isPaused ? { text: '', ending: { usage: noUsage, finishReason: 'stop' } } : this.#inner.translateEnd();
  }

  #endMessage(event: JsonObject): string {
    const message = assembleMessage(this.#events);
    this.#events = [];
    this.#isPaused = this.#turn.addMessage(message);
    if (this.#isPaused) return '';
    return this.#inner.translateEvent(JSON.stringify({ ...event, usage: this.#turn.computeTurnFields().usage }));
  }
}

/** Whether the upstream runs a tool. The client's own tools have no type, or the type `custom`. */
function isRunByUpstream(tool: Json): boolean {
  const type = isJsonObject(tool) ? tool['type'] : undefined;
  return typeof type === 'string' && type !== 'custom';
}

/** Adds counts, including counts in nested objects. Other fields get the later value. */
function addUsageCounts(usage: JsonObject, addedUsage: JsonObject): JsonObject {
  const sums = Object.entries(addedUsage).map(([field, count]) => {
    const sumBefore = usage[field];
    if (typeof count === 'number' && typeof sumBefore === 'number') return [field, sumBefore + count];
    return [field, isJsonObject(count) && isJsonObject(sumBefore) ? addUsageCounts(sumBefore, count) : count];
  });
  return overlayUsage(usage, Object.fromEntries(sums) as JsonObject);
}
