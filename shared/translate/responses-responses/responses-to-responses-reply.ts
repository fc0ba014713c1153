import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { fillUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { isToolCall, readResponseFinishReason } from '../upstreams/responses/response-finish-reason.ts';
import { readFailure } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import { addMarks } from '../upstreams/responses/encrypted-mark.ts';
import { readSummary } from './compaction-stream.ts';
import { addRequiredFields } from './required-fields.ts';
import { createRouterFields } from './router-fields.ts';

/**
 * Converts the answer of a Responses upstream for a Responses client. Changes only the fields that identify the answer, and the fields
 * about stored responses. Encrypted content gets the upstream's mark. An upstream that does not compact was asked for a summary, which
 * becomes a `compaction` item.
 * @throws RouterError with the error of a failed response; `upstream_failed` if the body is not a response
 */
export function responsesToResponsesReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readFailure(body);
  if (failure) throw failure;
  const { output } = body;
  if (!Array.isArray(output)) throw new RouterError('upstream_failed', 'The upstream sent an answer without output.');
  const response = addRequiredFields(body, answerContext);
  const usage = fillUsage(readResponsesUsage(body), {
    prompt: answerContext.promptTokens,
    completion: () => estimateTokens(JSON.stringify(output)),
  });
  const ending = { usage, finishReason: readResponseFinishReason(body, output.some(isToolCall)) };
  const summary = answerContext.recalled?.['compacts'] === true ? readSummary(output) : undefined;
  if (summary === undefined)
    return {
      body: addMarks({ ...response, ...createRouterFields(response, answerContext) }, answerContext.origin),
      ending,
    };
  const answer = new ResponsesAnswerWriter(answerContext);
  answer.addText(summary);
  answer.finish(ending);
  return { body: answer.response, ending };
}
