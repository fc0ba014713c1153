import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readMessagesEventError } from '../upstreams/messages/upstream-error.ts';
import { readMessagesUsage } from '#shared/formats/messages/usage.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { toFinishReason } from '../vocabulary/stop-reason.ts';
import { addMark } from './signature-marks.ts';

/**
 * Converts an answer in the `messages` format for a client of the same format. Replaces only the id and the model, and adds the upstream's
 * mark to signed content.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
export function messagesToMessagesReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = readMessagesEventError(body);
  if (failure) throw failure;
  const { content, stop_reason: stopReason, usage } = body;
  if (!Array.isArray(content)) {
    throw new RouterError('upstream_failed', 'The upstream sent an answer without content.');
  }
  const hasToolCalls = content.some((block) => isJsonObject(block) && block['type'] === 'tool_use');
  return {
    body: {
      ...body,
      content:
        answerContext.origin === undefined ? content : content.map((block) => addMark(block, answerContext.origin)),
      id: answerContext.id,
      model: answerContext.model,
    },
    ending: { usage: readMessagesUsage(usage), finishReason: toFinishReason(stopReason, hasToolCalls) },
  };
}
