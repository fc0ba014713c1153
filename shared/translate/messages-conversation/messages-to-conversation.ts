import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import type { MessagesRequest } from '#shared/formats/messages/request.ts';
import { type Conversation, conversationUpstream } from '../conversation/conversation.ts';
import { messagesToChat } from '../messages-chat/messages-to-chat.ts';
import type { Translation } from '../translation.ts';
import { readMessagesConversation } from './read-messages-conversation.ts';

export const messagesToConversation: Translation<Conversation> = {
  client: messagesFormat,
  upstream: conversationUpstream,
  passesHeaders: false,
  translateRequest: (body, traits) => readMessagesConversation(body as MessagesRequest, traits),
  translateReply: messagesToChat.translateReply,
  createStream: messagesToChat.createStream,
};
