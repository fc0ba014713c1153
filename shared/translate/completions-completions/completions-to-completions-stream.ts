import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { convertLogprobs } from './text-logprobs.ts';

/**
 * Relays a stream of completions. Chunks are sent on with the router's id, model and time. The last chunk before `[DONE]` has a finish
 * reason and the usage, whenever the upstream sends them, as in the chat format.
 */
export class CompletionsToCompletionsStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #ended = new Map<Json, boolean>();
  readonly #lengths = new Map<Json, number>();
  #hasContent = false;
  #usage: Json | undefined;
  #outputBytes = 0;
  #finish: Json | undefined;
  /** A chunk that ends an answer. It is held back until the next chunk, because the last such chunk gets the usage. */
  #held: JsonObject | undefined;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  get awaitsChoice(): boolean {
    return [...this.#ended.values()].includes(false);
  }

  event(data: string): string {
    if (data === '[DONE]') return '';
    const chunk = parseUpstreamEvent(data);
    const failure = upstreamErrorFromChatEvent(chunk);
    if (failure) throw failure;
    const { usage, choices: upstreamChoices, ...rest } = chunk;
    if (isJsonObject(usage)) this.#usage = usage;
    const choices = (Array.isArray(upstreamChoices) ? upstreamChoices : [])
      .filter(isJsonObject)
      .map((choice) => this.#read(choice));
    if (choices.length === 0) return '';
    const { id, created, model } = this.#answerContext;
    const written = { ...rest, id, object: 'text_completion', created, model, choices };
    const before = this.#takeHeld();
    if (!choices.some(({ finish_reason: reason }) => reason !== null))
      return before + writeDataEvent(JSON.stringify(written));
    this.#held = written;
    return before;
  }

  end(): { text: string; ending: Ending } {
    if (!this.#held || [...this.#ended.values()].includes(false))
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    const usage = fillUsage(readChatUsage(this.#usage), {
      prompt: this.#answerContext.promptTokens,
      completion: () => estimateTokensOfBytes(this.#outputBytes),
    });
    const finishReason = readFinishReason(this.#finish, false);
    const text = writeChatEnding(this.#held, writeChatUsage(usage, this.#usage), this.#answerContext.usageChunk);
    return { text, ending: { usage, finishReason } };
  }

  #read(choice: JsonObject): JsonObject {
    const { text = '', index = 0, logprobs = null, finish_reason: reason = null } = choice;
    const before = this.#lengths.get(index) ?? 0;
    if (typeof text === 'string' && text !== '') {
      this.#hasContent = true;
      this.#outputBytes += Buffer.byteLength(text);
      this.#lengths.set(index, before + text.length);
    }
    if (reason !== null) this.#finish ??= reason;
    this.#ended.set(index, reason !== null || this.#ended.get(index) === true);
    return {
      ...choice,
      text,
      index,
      logprobs: convertLogprobs(logprobs, before),
      finish_reason: reason === null ? null : readFinishReason(reason, false),
    };
  }

  #takeHeld(): string {
    const held = this.#held;
    this.#held = undefined;
    return held ? writeDataEvent(JSON.stringify(held)) : '';
  }
}
