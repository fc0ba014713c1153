import type { Reply } from '#shared/broker/contract/job-contract.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Ending, StreamTranslation } from '#shared/translate/translation.ts';
import { ContinuedStream } from '#shared/upstream/continuation/continued-stream.ts';
import { chatText } from '#shared/upstream/continuation/upstream-text.ts';
import type { WrittenRequest } from '#shared/upstream/request-writer.ts';
import type { TokenCounter } from '#shared/upstream/token-counter.ts';
import type { EngineHttp } from '../engine-http.ts';
import type { Engine } from '../engines/engine.ts';
import type { BegunStream } from './begun-stream.ts';
import { lowerOutputLimits, removeFromLastMessage } from './continued-request.ts';

export interface ContinuedAnswer {
  stream: BegunStream;
  /** Whether the answer already has all tokens that its limit allows. The engine then gets no request. */
  isComplete: boolean;
  /** Number of tokens in the beginning of the answer, as the engine gets it. */
  beginningTokens: number;
  /** Input tokens of the original request; undefined if neither the engine nor the beginning of the answer states the number. */
  promptTokens: number | undefined;
}

/**
 * Creates the request for the rest of an answer. Counts the tokens of the beginning, and lowers the request's limits by that number.
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
): Promise<{ continued: ContinuedAnswer; request: JsonObject }> {
  const { relayedAnswer, text, beginning, prompt } = stream;
  const countText = (countedText: string, isPrompt: boolean) =>
    countedText === '' ? 0 : continuation?.countText(http, { model, text: countedText, isPrompt }, signal);
  const countInput = () =>
    text === chatText
      ? counter.countObjectAtUpstream(removeFromLastMessage(request, beginning), signal)
      : countText(prompt, true);
  const [beginningTokens = 0, countedPromptTokens] = await Promise.all([countText(beginning, false), countInput()]);
  // The engine's count takes precedence, because the number in the beginning of the answer may be an estimate.
  const promptTokens = countedPromptTokens ?? relayedAnswer.inputTokens;
  const loweredRequest = lowerOutputLimits(request, beginningTokens);
  const continued = { stream, isComplete: !loweredRequest, beginningTokens, promptTokens };
  return { continued, request: loweredRequest ?? request };
}

/**
 * Sets the id and time of a written request to those of the answer that it continues, and its translation to the translation of the rest.
 */
export function applyContinuation(written: WrittenRequest, continued: ContinuedAnswer): void {
  const { route, answerContext } = written;
  const { translation } = route;
  const { id, created = answerContext.created } = continued.stream.relayedAnswer;
  written.answerContext = { ...answerContext, id, created };
  written.route = {
    ...route,
    translation: {
      ...translation,
      createStream: (context) => translateRest(continued, translation.createStream(context)),
    },
  };
}

function translateRest(continued: ContinuedAnswer, translation: StreamTranslation): StreamTranslation {
  const { relayedAnswer, text, textToRepeat } = continued.stream;
  return new ContinuedStream({
    translation,
    upstreamText: text,
    relayed: relayedAnswer,
    repeatedText: continued.isComplete ? '' : textToRepeat,
    computeUsage: (reported) => computeWholeUsage(continued, reported),
  });
}

/** Writes the end of an answer that already has all tokens that its limit allows. */
export function endAnswer(
  { route, answerContext }: WrittenRequest,
  { stream: { text: upstreamText } }: ContinuedAnswer,
  reply: Pick<Reply, 'write'>,
): Ending {
  const stream = route.translation.createStream(answerContext);
  const last = stream.translateEvent(upstreamText.writeEndingEvent('length', {}));
  const { text, ending } = stream.translateEnd();
  reply.write(last + text);
  return ending;
}

/** Computes the usage of the whole answer from the usage that the engine reports for its part. */
function computeWholeUsage({ beginningTokens, promptTokens }: ContinuedAnswer, reported: JsonObject): JsonObject {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = reported;
  const prompt = promptTokens ?? Math.max(1, toNumberOrZero(input) - beginningTokens);
  const completion = toNumberOrZero(output) + beginningTokens;
  return {
    ...reported,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    // The engine may have counted tokens of the beginning as cached.
    ...(isJsonObject(details) && {
      prompt_tokens_details: { ...details, cached_tokens: Math.min(toNumberOrZero(details['cached_tokens']), prompt) },
    }),
  };
}

function toNumberOrZero(value: JsonObject[string] | undefined): number {
  return typeof value === 'number' ? value : 0;
}
