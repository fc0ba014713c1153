import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { moderationsFormat } from '#shared/formats/moderations/moderations-format.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { readInputUsage } from '../upstreams/read-input-usage.ts';
import { createSameFormatTranslation, createSameFormatUpstream } from './same-format.ts';

/** OpenAI's moderations, as OpenAI and Mistral serve them. */
export const moderationsUpstream = createSameFormatUpstream({
  client: moderationsFormat,
  operation: 'moderate',
  path: '/moderations',
});

export const moderationsToModerations = createSameFormatTranslation(moderationsFormat, moderationsUpstream, {
  translateReply: moderationsToModerationsReply,
});

/**
 * Returns the upstream's body with the client's id and model, and without `usage`. Estimates the input tokens if the upstream does not
 * report them.
 * @throws RouterError `upstream_failed` if the answer has no results
 */
function moderationsToModerationsReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const { results, usage: reported, ...rest } = body;
  if (!Array.isArray(results) || !results.every(isJsonObject))
    throw new RouterError('upstream_failed', 'The upstream has not judged the input.');
  const usage = readInputUsage(reported, answerContext);
  const routerFields = { id: answerContext.id, model: answerContext.model, results };
  return { body: { ...rest, ...routerFields }, ending: { usage, finishReason: 'stop' } };
}
