import type { Reply } from '#shared/broker/contract/job-contract.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Ending, AnswerContext, StreamTranslation, Translation } from '#shared/translate/translation.ts';
import { ContinuedStream } from '#shared/upstream/continuation/continued-stream.ts';
import { chatText } from '#shared/upstream/continuation/upstream-text.ts';
import type { TokenCounter } from '#shared/upstream/token-counter.ts';
import type { EngineHttp } from '../engine-http.ts';
import type { Engine } from '../engines/engine.ts';
import type { BegunStream } from './begun-stream.ts';
import { lowerOutputLimits, removeFromLastMessage } from './continued-request.ts';

export interface ContinuedAnswer {
  stream: BegunStream;
  request: JsonObject;
  /** Fields of the answer context that the beginning of the answer has set. */
  answerContext: Partial<AnswerContext>;
  /** Whether the answer already has all the tokens that its limit allows, so that the engine gets no request. */
  isComplete: boolean;
  /** Number of tokens in the beginning of the answer that the engine gets. */
  beginningTokens: number;
  /** Input tokens of the original request; undefined if neither the engine nor the beginning of the answer states the number. */
  promptTokens: number | undefined;
}

/**
 * Prepares the request for the rest of an answer: counts the tokens of the beginning, and lowers the request's limits by that number.
 * @param request request with the beginning of the answer, adapted to the engine
 * @throws UpstreamAnswerError if the engine does not count the beginning
 * @throws the connection's errors
 */
export async function prepareContinuation(
  stream: BegunStream,
  request: JsonObject,
  { continuation }: Pick<Engine, 'continuation'>,
  { http, model, counter }: { http: EngineHttp; model: string; counter: TokenCounter },
  signal: AbortSignal,
): Promise<ContinuedAnswer> {
  const { relayedAnswer, text, beginning, prompt } = stream;
  const countText = (countedText: string, isPrompt: boolean) =>
    countedText === '' ? 0 : continuation?.countText(http, { model, text: countedText, isPrompt }, signal);
  const countInput = () =>
    text === chatText
      ? counter.countObjectAtUpstream(removeFromLastMessage(request, beginning), signal)
      : countText(prompt, true);
  const [beginningTokens = 0, countedPromptTokens] = await Promise.all([countText(beginning, false), countInput()]);
  // The engine's count is preferred, because the number in the beginning of the answer may be an estimate.
  const promptTokens = countedPromptTokens ?? relayedAnswer.inputTokens;
  const { id, created } = relayedAnswer;
  const answerContext = { id, ...(created !== undefined && { created }) };
  const loweredRequest = lowerOutputLimits(request, beginningTokens);
  return {
    stream,
    request: loweredRequest ?? request,
    answerContext,
    isComplete: !loweredRequest,
    beginningTokens,
    promptTokens,
  };
}

/**
 * Returns the stream translation for the rest of an answer.
 * @param translation translation of a new stream of the same answer
 */
export function translateRest(continued: ContinuedAnswer, translation: StreamTranslation): StreamTranslation {
  const { relayedAnswer, text, textToRepeat } = continued.stream;
  const usage = (reported: JsonObject) => computeWholeUsage(continued, reported);
  return new ContinuedStream({
    translation,
    upstreamText: text,
    relayed: relayedAnswer,
    repeatedText: continued.isComplete ? '' : textToRepeat,
    computeUsage: usage,
  });
}

/** Writes the end of an answer that already has all the tokens that its limit allows. */
export function endAnswer(
  continued: ContinuedAnswer,
  translation: Pick<Translation, 'stream'>,
  answerContext: AnswerContext,
  reply: Pick<Reply, 'write'>,
): Ending {
  const stream = translateRest(continued, translation.stream(answerContext));
  const last = stream.event(continued.stream.text.endingEvent('length', {}));
  const { text, ending } = stream.end();
  reply.write(last + text);
  return ending;
}

/** Computes the usage of the whole answer from the usage that the engine reports for its part. */
function computeWholeUsage({ beginningTokens, promptTokens }: ContinuedAnswer, reported: JsonObject): JsonObject {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = reported;
  const prompt = promptTokens ?? Math.max(1, numberOrZero(input) - beginningTokens);
  const completion = numberOrZero(output) + beginningTokens;
  return {
    ...reported,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    // The engine may have counted tokens of the beginning as cached.
    ...(isJsonObject(details) && {
      prompt_tokens_details: { ...details, cached_tokens: Math.min(numberOrZero(details['cached_tokens']), prompt) },
    }),
  };
}

function numberOrZero(value: JsonObject[string] | undefined): number {
  return typeof value === 'number' ? value : 0;
}
