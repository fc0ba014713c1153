import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { completeUsage } from '#shared/formats/chat/usage.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import { ResponsesAnswer } from '../responses/responses-answer.ts';
import type { Ending, Minted } from '../translation.ts';
import { isToolCall, responseFinishReason } from '../upstreams/responses/ending.ts';
import { failureOf } from '../upstreams/responses/upstream-error.ts';
import { readResponsesUsage } from '#shared/formats/responses/usage.ts';
import { withMarks } from '../upstreams/responses/encrypted-mark.ts';
import { summaryIn } from './compaction-stream.ts';
import { completeResponse } from './complete-response.ts';
import { ownFields } from './own-fields.ts';

/**
 * Returns the Responses client's answer for a Responses upstream's answer. Everything passes except fields that identify the answer, and
 * fields about stored responses. Encrypted content gets the upstream's mark. A summary that was requested in place of a compaction becomes
 * a `compaction` item.
 * @throws RouterError for a failed response, `upstream_failed` if the body is not a response
 */
export function responsesToResponsesReply(body: JsonObject, minted: Minted): { body: JsonObject; ending: Ending } {
  const failure = failureOf(body);
  if (failure) throw failure;
  const { output } = body;
  if (!Array.isArray(output)) throw new RouterError('upstream_failed', 'The upstream sent an answer without output.');
  const response = completeResponse(body, minted);
  const usage = completeUsage(readResponsesUsage(body), {
    prompt: minted.promptTokens,
    completion: () => estimateTokens(JSON.stringify(output)),
  });
  const ending = { usage, finishReason: responseFinishReason(body, output.some(isToolCall)) };
  const summary = minted.recalled?.['compacts'] === true ? summaryIn(output) : undefined;
  if (summary === undefined)
    return { body: withMarks({ ...response, ...ownFields(response, minted) }, minted.origin), ending };
  const answer = new ResponsesAnswer(minted);
  answer.text(summary);
  answer.finish(ending);
  return { body: answer.response, ending };
}
