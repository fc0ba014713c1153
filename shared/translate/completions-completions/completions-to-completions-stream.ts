import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { convertLogprobs } from './convert-logprobs.ts';

/**
 * Relays a stream of completions. Chunks are sent on with the router's id, model and time. As in the chat format, the last chunk before
 * `[DONE]` has a finish reason and the usage, no matter when the upstream sends them.
 */
export class CompletionsToCompletionsStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #endedByIndex = new Map<Json, boolean>();
  readonly #lengthByIndex = new Map<Json, number>();
  #hasContent = false;
  #usage: Json | undefined;
  #outputBytes = 0;
  #upstreamFinishReason: Json | undefined;
  /**
   * The last chunk with a finish reason. It is held back until another chunk arrives, because the last chunk of the stream carries the
   * usage.
   */
  #heldChunk: JsonObject | undefined;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  get awaitsChoice(): boolean {
    return [...this.#endedByIndex.values()].includes(false);
  }

  translateEvent(data: string): string {
    if (data === '[DONE]') return '';
    const chunk = parseUpstreamEvent(data);
    const failure = readChatEventError(chunk);
    if (failure) throw failure;
    const { usage, choices: upstreamChoices, ...rest } = chunk;
    if (isJsonObject(usage)) this.#usage = usage;
    const choices = (Array.isArray(upstreamChoices) ? upstreamChoices : [])
      .filter(isJsonObject)
      .map((choice) => this.#readChoice(choice));
    if (choices.length === 0) return '';
    const { id, created, model } = this.#answerContext;
    const written = { ...rest, id, object: 'text_completion', created, model, choices };
    const heldEvent = this.#writeHeldChunk();
    if (!choices.some(({ finish_reason: reason }) => reason !== null))
      return heldEvent + writeDataEvent(JSON.stringify(written));
    this.#heldChunk = written;
    return heldEvent;
  }

  translateEnd(): { text: string; ending: Ending } {
    if (!this.#heldChunk || [...this.#endedByIndex.values()].includes(false))
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const finishReason = readFinishReason(this.#upstreamFinishReason, false);
    const text = writeChatEnding(this.#heldChunk, writeChatUsage(usage, this.#usage));
    return { text, ending: { usage, finishReason } };
  }

  #readChoice(choice: JsonObject): JsonObject {
    const { text = '', index = 0, logprobs = null, finish_reason: reason = null } = choice;
    const lengthBefore = this.#lengthByIndex.get(index) ?? 0;
    if (typeof text === 'string' && text !== '') {
      this.#hasContent = true;
      this.#outputBytes += Buffer.byteLength(text);
      this.#lengthByIndex.set(index, lengthBefore + text.length);
    }
    if (reason !== null) this.#upstreamFinishReason ??= reason;
    this.#endedByIndex.set(index, reason !== null || this.#endedByIndex.get(index) === true);
    return {
      ...choice,
      text,
      index,
      logprobs: convertLogprobs(logprobs, lengthBefore),
      finish_reason: reason === null ? null : readFinishReason(reason, false),
    };
  }

  #writeHeldChunk(): string {
    const chunk = this.#heldChunk;
    this.#heldChunk = undefined;
    return chunk ? writeDataEvent(JSON.stringify(chunk)) : '';
  }
}
