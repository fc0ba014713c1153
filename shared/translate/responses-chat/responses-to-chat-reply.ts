import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { ChatOutput } from './chat-output.ts';

/**
 * Translates a chat upstream's answer for a Responses client: thinking, then text, then tool calls, each as an item.
 * @throws RouterError `upstream_failed` if the body is not an answer
 */
export function responsesToChatReply(
  body: JsonObject,
  answerContext: AnswerContext,
): { body: JsonObject; ending: Ending } {
  const failure = upstreamErrorFromChatEvent(body);
  if (failure) throw failure;
  const choice = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  if (!isJsonObject(choice) || !isJsonObject(choice['message'])) {
    throw new RouterError('upstream_failed', 'The upstream sent an answer without a message.');
  }
  const output = new ChatOutput(answerContext);
  output.addMessage(choice['message'], choice['logprobs'], true);
  const { ending } = output.finish(choice['finish_reason'], body['usage']);
  return { body: output.response, ending };
}
