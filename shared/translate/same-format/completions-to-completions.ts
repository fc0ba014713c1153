import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { completionsFormat } from '#shared/formats/completions/completions-format.ts';
import { estimateTokens, estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import type { Ending, AnswerContext, ModelTraits, Translation, StreamTranslation } from '../translation.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { readChatEventError, readChatError } from '../upstreams/chat/upstream-error.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import type { HttpUpstreamFormat } from '../upstream-format.ts';
import { classifyChatEvent } from '../upstreams/chat/chat-upstream.ts';

/** OpenAI's older completions, as engines and some providers serve them. Errors have the form of chat completions. */
export const completionsUpstream: HttpUpstreamFormat = {
  name: 'completions',
  operation: 'complete',
  path: '/completions',
  headers: {},
  estimateInput: (request) => completionsFormat.estimateInput(request),
  readError: readChatError,
  classifyEvent: classifyChatEvent,
};

/** Changes only the fields that identify the answer. */
export const completionsToCompletions: Translation = {
  client: completionsFormat,
  upstream: completionsUpstream,
  passesHeaders: false,
  translateRequest: completionsToCompletionsRequest,
  translateReply: completionsToCompletionsReply,
  createStream: (answerContext) => new CompletionsToCompletionsStream(answerContext),
};

/** Returns the upstream's request. A streamed request always asks for the usage. */
function completionsToCompletionsRequest(body: JsonObject, { model }: ModelTraits): JsonObject {
  const { stream_options: streamOptions, ...request } = body;
  if (body['stream'] !== true) return { ...request, model };
  return {
    ...request,
    model,
    stream_options: { ...(isJsonObject(streamOptions) && streamOptions), include_usage: true },
  };
}

/** @throws RouterError `upstream_failed` if the body is not an answer */
function completionsToCompletionsReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const upstreamChoices = Array.isArray(body['choices']) ? body['choices'] : [];
  const choices = upstreamChoices.map(completeChoice);
  const [first] = choices;
  if (!first) throw new RouterError('upstream_failed', 'The upstream sent an answer without a text.');
  const texts = choices.map(({ text }) => text).join('');
  const usage = fillUsage(readChatUsage(body['usage']), {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(texts),
  });
  return {
    body: {
      ...body,
      id: answerContext.id,
      object: 'text_completion',
      created: answerContext.created,
      model: answerContext.model,
      choices,
      usage: writeChatUsage(usage, body['usage']),
    },
    ending: { usage, finishReason: first.finish_reason },
  };
}

function completeChoice(choice: Json, position: number) {
  const { text, index = position, logprobs = null, finish_reason: reason } = isJsonObject(choice) ? choice : {};
  if (typeof text !== 'string') throw new RouterError('upstream_failed', 'The upstream sent an answer without a text.');
  const rest = isJsonObject(choice) ? choice : {};
  return {
    ...rest,
    text,
    index,
    logprobs: convertLogprobs(logprobs, 0),
    finish_reason: readFinishReason(reason, false),
  };
}

/**
 * Relays a stream of completions. Chunks are sent on with the router's id, model and time. As in the chat format, the last chunk before
 * `[DONE]` has a finish reason and the usage, no matter when the upstream sends them.
 */
class CompletionsToCompletionsStream implements StreamTranslation {
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

/**
 * Converts log probabilities to the completions format, because llama.cpp sends them in the chat format.
 * @param offset characters of the answer before this chunk
 */
function convertLogprobs(logprobs: Json, offset: number): Json {
  const content = isJsonObject(logprobs) ? logprobs['content'] : undefined;
  if (!Array.isArray(content)) return logprobs;
  const tokens = content.filter(isJsonObject);
  let end = offset;
  return {
    tokens: tokens.map(readTokenText),
    token_logprobs: tokens.map(({ logprob = null }) => logprob),
    top_logprobs: tokens.map(readAlternatives),
    text_offset: tokens.map((token) => {
      const start = end;
      end += readTokenText(token).length;
      return start;
    }),
  };
}

function readTokenText({ token }: JsonObject): string {
  return typeof token === 'string' ? token : '';
}

/** Returns the most likely tokens at the position of a token; null if none were requested. */
function readAlternatives({ top_logprobs: alternatives }: JsonObject): Json {
  const top = Array.isArray(alternatives) ? alternatives.filter(isJsonObject) : [];
  if (top.length === 0) return null;
  return Object.fromEntries(top.map((each) => [readTokenText(each), each['logprob'] ?? null]));
}
