import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { ChatRequest, ChatMessage } from '#shared/formats/chat/request.ts';
import { chatToChat } from '../same-format/chat-to-chat.ts';
import { type Conversation, conversationUpstream, type TurnBlock, computeEffort } from './conversation.ts';
import type { Translation } from '../translation.ts';
import { chatContentToBlocks, appendRefusal } from '../chat-messages/chat-content-to-blocks.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { readType } from '#shared/core/json.ts';
import { requestsFeature } from '#shared/formats/request-feature.ts';
import { arrangeTurns, type Turn } from './arrange-turns.ts';

export const chatToConversation: Translation<Conversation> = {
  client: chatFormat,
  upstream: conversationUpstream,
  passesHeaders: false,
  translateRequest: (body, { model, takesImages = false }) =>
    readChatConversation(body as ChatRequest, model, takesImages),
  translateReply: chatToChat.translateReply,
  createStream: chatToChat.createStream,
};

/**
 * Fields that no CLI supports. They cannot be ignored, because the answer would be wrong without them, so a request with one is refused.
 */
const refusedFields: Readonly<Record<string, string>> = {
  tools: 'tools of the client',
  functions: 'tools of the client',
  logprobs: 'log probabilities',
  top_logprobs: 'log probabilities',
  audio: 'audio output',
  web_search_options: 'web searches by the upstream',
};

/**
 * Reads the conversation of a chat request. Ignores the sampling parameters (temperature, top_p, seed, penalties), because no CLI accepts
 * them.
 * @throws RouterError `unsupported_parameter` that names a field that a CLI cannot serve
 */
export function readChatConversation(request: ChatRequest, model: string, takesImages: boolean): Conversation {
  refuseFields(request);
  const system: string[] = [];
  const turns: Turn<TurnBlock>[] = [];
  for (const [index, message] of request.messages.entries()) {
    const param = `messages[${index}]`;
    const blocks = toTurnBlocks(message, param, takesImages && message.role === 'user');
    if (message.role === 'user' || message.role === 'assistant') turns.push({ role: message.role, blocks });
    else system.push(...blocks.map((block) => (block.type === 'text' ? block.text : '')));
  }
  const { stop, max_completion_tokens: maxCompletionTokens, max_tokens: maxTokens } = request;
  return {
    model,
    system: system.join('\n\n'),
    ...arrangeTurns(turns),
    effort: computeEffort(request),
    maxTokens: maxCompletionTokens ?? maxTokens ?? undefined,
    stop: (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text !== ''),
  };
}

function toTurnBlocks(message: ChatMessage, param: string, takesImages: boolean): TurnBlock[] {
  if (message.role === 'tool') throw createUnsupportedChatError(param, 'results of tools');
  if (message.role === 'assistant' && Array.isArray(message.tool_calls) && message.tool_calls.length > 0) {
    throw createUnsupportedChatError(`${param}.tool_calls`, 'calls of tools');
  }
  const contentBlocks = chatContentToBlocks(message.content, `${param}.content`);
  const blocks = message.role === 'assistant' ? appendRefusal(contentBlocks, message['refusal']) : contentBlocks;
  return blocks.map((block) => {
    if (block.type === 'text' || (takesImages && block.type === 'image')) return block;
    throw createUnsupportedChatError(
      `${param}.content`,
      block.type === 'image' ? 'images' : `content of type '${block.type}'`,
    );
  });
}

/** Refuses a request for a feature that no CLI supports. Accepts `tools` if `tool_choice` is `none`. */
function refuseFields(request: ChatRequest): void {
  const { response_format: format, tool_choice: choice, n } = request;
  if ((n ?? 1) > 1) throw createUnsupportedChatError('n', 'more than one choice');
  for (const [field, feature] of Object.entries(refusedFields)) {
    if (requestsFeature(request[field]) && !(field === 'tools' && choice === 'none'))
      throw createUnsupportedChatError(field, feature);
  }
  const type = readType(format ?? undefined);
  if (type !== undefined && type !== 'text')
    throw createUnsupportedChatError('response_format', `the format '${type}'`);
}
