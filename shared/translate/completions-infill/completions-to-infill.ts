import { RouterError } from '#shared/core/errors.ts';
import { type Json, type JsonObject, isJsonObject } from '#shared/core/json.ts';
import { noUsage, readCount } from '#shared/core/usage.ts';
import { writeChatEnding } from '#shared/formats/chat/stream-additions.ts';
import { fillUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { completionsFormat, type CompletionsRequest } from '#shared/formats/completions/completions-format.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { writeDataEvent } from '#shared/formats/sse/encode.ts';
import type { Ending, AnswerContext, StreamTranslation, ModelTraits, Translation } from '../translation.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { readChatEventError, readChatError } from '../upstreams/chat/upstream-error.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import type { HttpUpstreamFormat } from '../upstream-format.ts';

/** llama.cpp's completion of code between a prefix and a suffix (its README, "POST /infill"). Its streams have no `[DONE]`. */
export const infillUpstream: HttpUpstreamFormat = {
  name: 'infill',
  operation: 'complete',
  path: '/infill',
  headers: {},
  estimateInput,
  // Status 501 means that the model lacks the tokens that mark a prefix and a suffix.
  readError: (status, body, headers) =>
    status === 501 ? createUnsupportedChatError('suffix', 'a suffix') : readChatError(status, body, headers),
  // Quotes within a text are escaped, so the pattern matches only the field itself.
  classifyEvent: (data) => (/"stop"\s*:\s*true/.test(data) ? 'last' : 'answer'),
};

/** The features that the path lacks, by the field that requests the feature. */
const refused = new Map([
  ['n', 'more than one answer'],
  ['best_of', 'more than one answer'],
  ['echo', 'the prompt in the answer, with a suffix'],
  ['logprobs', 'log probabilities, with a suffix'],
]);

/** Translates text completions with a suffix for llama.cpp's `/infill`, because its `/completions` refuses a suffix. */
export const completionsToInfill: Translation = {
  client: completionsFormat,
  upstream: infillUpstream,
  passesHeaders: false,
  translateRequest: completionsToInfillRequest,
  translateReply: (body, answerContext) => {
    const failure = readChatEventError(body);
    if (failure) throw failure;
    const { choice, usage, finishReason } = readAnswer(body, answerContext, '');
    return {
      body: { ...createHead(answerContext), choices: [choice], usage: writeChatUsage(usage) },
      ending: { usage, finishReason },
    };
  },
  createStream: (answerContext) => new InfillStream(answerContext),
};

function completionsToInfillRequest(body: JsonObject, { model }: ModelTraits): JsonObject {
  const { prompt, suffix, max_tokens: maxTokens, stop, stream, ...request } = body as CompletionsRequest;
  if (typeof prompt !== 'string')
    throw createUnsupportedChatError('prompt', 'several prompts, or tokens, with a suffix');
  for (const [field, feature] of refused)
    if (exceedsDefault(field, body[field])) throw createUnsupportedChatError(field, feature);
  const further = Object.entries(request).filter(([field]) => !droppedFields.has(field));
  return {
    ...Object.fromEntries(further),
    model,
    input_prefix: prompt,
    input_suffix: suffix ?? '',
    // Without a limit, llama.cpp may generate endlessly.
    ...(maxTokens !== undefined && maxTokens !== null && { n_predict: maxTokens }),
    ...(stop !== undefined && stop !== null && { stop: typeof stop === 'string' ? [stop] : stop }),
    ...(stream === true && { stream: true }),
  };
}

/** Fields that are not sent: fields unknown to llama.cpp, and refused fields. A refused field that is not refused has its default value. */
const droppedFields: ReadonlySet<string> = new Set(['user', 'stream_options', ...refused.keys()]);

/** Whether a field requests more than the default, which is one answer, no echo and no log probabilities. */
function exceedsDefault(field: string, value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false) return false;
  return !(typeof value === 'number' && (field === 'logprobs' ? value === 0 : value === 1));
}

function createHead({ id, created, model }: AnswerContext): JsonObject {
  return { id, object: 'text_completion', created, model };
}

/**
 * Reads a whole answer, or the last event of a streamed answer.
 * @param earlierText the text of the earlier events
 */
function readAnswer(
  body: JsonObject,
  answerContext: AnswerContext,
  earlierText: string,
): Ending & { choice: JsonObject } {
  const { content: text, stop_type: type, tokens_evaluated: input, tokens_predicted: output } = body;
  if (typeof text !== 'string') throw new RouterError('upstream_failed', 'The upstream sent an answer without a text.');
  const finishReason = type === 'limit' || body['stopped_limit'] === true ? 'length' : 'stop';
  const counted = { ...noUsage, promptTokens: readCount(input), completionTokens: readCount(output) };
  const usage = fillUsage(counted, {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(earlierText + text),
  });
  return { choice: { text, index: 0, logprobs: null, finish_reason: finishReason }, usage, finishReason };
}

class InfillStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  #text = '';
  #last: JsonObject | undefined;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  get hasContent(): boolean {
    return this.#text !== '';
  }

  translateEvent(data: string): string {
    if (data === '[DONE]') return '';
    const event = parseUpstreamEvent(data);
    const failure = readChatEventError(event);
    if (failure) throw failure;
    if (event['stop'] === true) {
      this.#last = event;
      return '';
    }
    const { content: text } = event;
    if (typeof text !== 'string' || text === '') return '';
    this.#text += text;
    return this.#write({ text, index: 0, logprobs: null, finish_reason: null });
  }

  translateEnd(): { text: string; ending: Ending } {
    if (!this.#last)
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    const { choice, usage, finishReason } = readAnswer(this.#last, this.#answerContext, this.#text);
    const last = { ...createHead(this.#answerContext), choices: [choice] };
    const text = writeChatEnding(last, writeChatUsage(usage));
    return { text, ending: { usage, finishReason } };
  }

  #write(choice: JsonObject): string {
    return writeDataEvent(JSON.stringify({ ...createHead(this.#answerContext), choices: [choice] }));
  }
}

function estimateInput({ input_prefix: prefix, input_suffix: suffix, input_extra: files }: JsonObject): number {
  const texts = (Array.isArray(files) ? files : []).map((file) => (isJsonObject(file) ? file['text'] : undefined));
  return [prefix, suffix, ...texts].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? estimateTokens(text) : 0),
    0,
  );
}
