import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { ChatAnswerWriter } from '../chat/chat-answer-writer.ts';
import type { Translation } from '../translation.ts';
import { MessagesReader } from '../upstreams/messages/messages-reader.ts';
import { messagesUpstream } from '../upstreams/messages/messages-upstream.ts';
import { readCustomToolNames } from '../vocabulary/custom-tools.ts';
import { chatToMessagesReply } from './chat-to-messages-reply.ts';
import { chatToMessagesRequest } from './chat-to-messages-request.ts';

export const chatToMessages: Translation = {
  client: chatFormat,
  upstream: messagesUpstream,
  passesHeaders: false,
  recallFields: readCustomToolNames,
  translateRequest: chatToMessagesRequest,
  translateReply: chatToMessagesReply,
  createStream: (answerContext) => new MessagesReader(answerContext, new ChatAnswerWriter(answerContext)),
};
