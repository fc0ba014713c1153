import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { unifyReasoning, writtenText } from '../upstreams/chat/reasoning.ts';
import { customOf, ToolCallOrder, type ToolCallPiece, toolCallPrefix } from '../upstreams/chat/tool-call-order.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { completeUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { parseUpstreamEvent, parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import { chatEnding } from '#shared/formats/chat/stream-words.ts';
import { dataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, Minted, StreamTranslation } from '../translation.ts';
import { probeText, RepeatedChunk } from './repeated-chunk.ts';

/**
 * Relays a chat upstream's stream to chat clients. Chunks pass with the router's id, model and time. Only the first chunk has
 * the role; finish reason and usage, whenever the engine sends them, are part of the last chunk, which has an empty delta.
 */
export class ChatToChatStream implements StreamTranslation {
  readonly #minted: Minted;
  /** Undefined until there is a tool call. */
  #order: ToolCallOrder | undefined;
  readonly #repeated = new RepeatedChunk();
  #started = false;
  #hasContent = false;
  #done = false;
  #finish: Json | undefined;
  #usage: Json | undefined;
  #outputBytes = 0;
  /** Fields of chunks without output; the last chunk carries them. */
  #heldChunk: JsonObject = {};
  #heldChoice: JsonObject = {};

  constructor(minted: Minted) {
    this.#minted = minted;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  event(data: string): string {
    if (data === '[DONE]') {
      this.#done = true;
      return '';
    }
    const text = this.#repeated.textIn(data);
    if (text === undefined) return this.#translate(data);
    this.#outputBytes += Buffer.byteLength(text);
    return this.#repeated.write(text);
  }

  end(): { text: string; ending: Ending } {
    if (!this.#done && this.#finish === undefined) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    if (!this.#started && this.#finish === undefined) {
      throw new RouterError('upstream_failed', 'The upstream sent a stream without an answer.');
    }
    const roleChunk = this.#started ? '' : this.#write({}, { index: 0, delta: {}, finish_reason: null }, {});
    const finishReason = readFinishReason(this.#finish, this.#order !== undefined);
    const usage = completeUsage(readChatUsage(this.#usage), {
      prompt: this.#minted.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const last = this.#stamp({ ...this.#heldChunk });
    last['choices'] = [{ ...this.#heldChoice, index: 0, delta: {}, finish_reason: finishReason }];
    const text = chatEnding(last, writeChatUsage(usage, this.#usage), this.#minted.usageChunk);
    return { text: roleChunk + text, ending: { usage, finishReason } };
  }

  #translate(data: string): string {
    const chunk = parseUpstreamEvent(data);
    const failure = upstreamErrorFromChatEvent(chunk);
    if (failure) throw failure;
    const hasUsage = isJsonObject(chunk['usage']);
    if (isJsonObject(chunk['usage'])) this.#usage = chunk['usage'];
    chunk['usage'] = undefined;

    const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (!isJsonObject(choice)) {
      Object.assign(this.#heldChunk, chunk);
      return '';
    }
    const delta = isJsonObject(choice['delta']) ? choice['delta'] : {};
    const shows = this.#repair(delta);
    this.#hasContent ||= shows;
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'];
    if (!shows && this.#finish !== undefined) {
      Object.assign(this.#heldChunk, chunk);
      Object.assign(this.#heldChoice, choice);
      return '';
    }
    // What is tried out counts as content, so there has to be some already.
    const mayRepeat =
      this.#hasContent && !hasUsage && typeof choice['finish_reason'] !== 'string' && !hasCalls(delta['tool_calls']);
    choice['index'] = 0;
    choice['delta'] = delta;
    choice['finish_reason'] = null;
    if (mayRepeat)
      this.#repeated.learn(
        data,
        () => writtenText(delta, []),
        (probe) => this.#translateProbe(probe),
      );
    return this.#write(chunk, choice, delta);
  }

  /** Translates a chunk that did not come; undefined if the model did not write `probeText` in it. */
  #translateProbe(data: string): string | undefined {
    // The text may be written with escapes, and what was taken for it be no text.
    if (!isJsonObject(parseUpstreamJson(data))) return undefined;
    const bytes = this.#outputBytes;
    const text = this.#translate(data);
    const written = this.#outputBytes - bytes;
    this.#outputBytes = bytes;
    return written === probeText.length ? text : undefined;
  }

  #write(chunk: JsonObject, choice: JsonObject, delta: JsonObject): string {
    if (!this.#started) {
      this.#started = true;
      choice['delta'] = { ...delta, role: 'assistant' };
    }
    chunk['choices'] = [choice];
    return dataEvent(JSON.stringify(this.#stamp(chunk)));
  }

  #stamp(chunk: JsonObject): JsonObject {
    chunk['id'] = this.#minted.id;
    chunk['object'] = 'chat.completion.chunk';
    chunk['created'] = this.#minted.created;
    chunk['model'] = this.#minted.model;
    return chunk;
  }

  #placed(call: Json): ToolCallPiece {
    this.#order ??= new ToolCallOrder(toolCallPrefix(this.#minted.id));
    return this.#order.place(call);
  }

  /** Repairs a delta in place. Returns whether it has any output. */
  #repair(delta: JsonObject): boolean {
    delta['role'] = undefined;
    unifyReasoning(delta);
    let shows = false;
    for (const field in delta) {
      const value = delta[field];
      shows ||= value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
    }
    const given = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
    const pieces = given.map((call) => this.#placed(call));
    if (pieces.length > 0) delta['tool_calls'] = pieces.map((piece, at) => placedCall(piece, given[at] as JsonObject));
    this.#outputBytes += Buffer.byteLength(writtenText(delta, pieces));
    return shows;
  }
}

function hasCalls(calls: Json | undefined): boolean {
  return Array.isArray(calls) && calls.length > 0;
}

function placedCall({ index, id, first, name, arguments: text }: ToolCallPiece, call: JsonObject): Json {
  const { index: _, id: __, type: ___, function: given, custom: ____, ...rest } = call;
  const custom = customOf(call);
  const called: JsonObject = {
    ...(isJsonObject(given) ? given : {}),
    ...custom,
    [custom ? 'input' : 'arguments']: text,
  };
  delete called['name'];
  const type = custom ? 'custom' : 'function';
  const named = { [type]: name === undefined ? called : { name, ...called } };
  return first ? { index, id, type, ...rest, ...named } : { index, ...rest, ...named };
}
