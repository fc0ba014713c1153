import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { fillUsage, readChatUsage, writeChatUsage } from '#shared/formats/chat/usage.ts';
import { completionsFormat } from '#shared/formats/completions/completions-format.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import type { Ending, AnswerContext, ModelTraits, Translation } from '../translation.ts';
import { readFinishReason } from '../upstreams/chat/finish-reason.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { completionsUpstream } from '../upstreams/completions/completions-upstream.ts';
import { CompletionsToCompletionsStream } from './completions-to-completions-stream.ts';
import { convertLogprobs } from './convert-logprobs.ts';

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
