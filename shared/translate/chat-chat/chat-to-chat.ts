import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { Translation, ModelTraits } from '../translation.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { countRequestedChoices, readChoiceCount } from './requested-choices.ts';
import { chatToChatReply } from './chat-to-chat-reply.ts';
import { ChatToChatStream } from './chat-to-chat-stream.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { convertCustomToFunctions, readCustomToolNames } from '../vocabulary/custom-tools.ts';

/**
 * Translates between chat clients and chat upstreams. Changes only the fields that identify the answer, and custom tools for an upstream
 * without them.
 */
export const chatToChat: Translation = {
  client: chatFormat,
  upstream: chatUpstream,
  passesHeaders: true,
  passesLists: true,
  recallFields: (body) => ({ ...readChoiceCount(body), ...readCustomToolNames(body) }),
  translateRequest: chatToChatRequest,
  translateReply: chatToChatReply,
  createStream: (answerContext) => new ChatToChatStream(answerContext),
};

/**
 * Returns the upstream's request for a chat client's request. Changes only the model's name, and custom tools for an upstream that has only
 * functions. A streamed request always asks for the usage.
 * @throws RouterError `unsupported_parameter` for several choices on an upstream that returns only one
 */
export function chatToChatRequest(body: JsonObject, traits: ModelTraits): JsonObject {
  if (traits.makesOneChoice === true && countRequestedChoices(readChoiceCount(body)) > 1)
    throw createUnsupportedChatError('n', 'more than one choice');
  const adapted = traits.takesCustomTools === true ? body : convertCustomToFunctions(body as ChatRequest);
  const request: JsonObject = { ...adapted, model: traits.model };
  if (body['stream'] === true) {
    const options = isJsonObject(body['stream_options']) ? body['stream_options'] : {};
    request['stream_options'] = { ...options, include_usage: true };
  }
  return request;
}
