import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { chatToChat } from '../same-format/chat-to-chat.ts';
import { type Conversation, conversationUpstream } from '../conversation/conversation.ts';
import type { Translation } from '../translation.ts';
import { readChatConversation } from './read-chat-conversation.ts';

export const chatToConversation: Translation<Conversation> = {
  client: chatFormat,
  upstream: conversationUpstream,
  passesHeaders: false,
  translateRequest: (body, { model, takesImages = false }) =>
    readChatConversation(body as ChatRequest, model, takesImages),
  translateReply: chatToChat.translateReply,
  createStream: chatToChat.createStream,
};
