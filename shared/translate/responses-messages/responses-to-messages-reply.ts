import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { upstreamErrorFromMessagesEvent } from '../upstreams/messages/upstream-error.ts';
import { MessagesOutput } from './messages-output.ts';

/**
 * Translates a `messages` upstream's answer for a Responses client: each block becomes an item, in the same order.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
export function responsesToMessagesReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = upstreamErrorFromMessagesEvent(body);
  if (failure) throw failure;
  if (!Array.isArray(body['content'])) {
    throw new RouterError('upstream_failed', 'The upstream sent an answer without content.');
  }
  const output = new MessagesOutput(answerContext);
  for (const block of body['content'].filter(isJsonObject)) {
    output.openBlock(undefined, block);
    output.closeBlock(undefined);
  }
  const { ending } = output.finish(body, body['usage']);
  return { body: output.response, ending };
}
