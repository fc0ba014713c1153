import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { type Conversation, conversationUpstream } from '../conversation/conversation.ts';
import { responsesToChat } from '../responses-chat/responses-to-chat.ts';
import { expandCompaction } from '../responses/compaction.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import type { Translation } from '../translation.ts';
import { readResponsesConversation } from './read-responses-conversation.ts';

export const responsesToConversation: Translation<Conversation> = {
  client: responsesFormat,
  upstream: conversationUpstream,
  passesHeaders: false,
  recallFields: toRecalledRequest,
  translateRequest: (body, traits) =>
    readResponsesConversation(expandCompaction(body, traits.unseal) as ResponsesRequest, traits),
  translateReply: responsesToChat.translateReply,
  createStream: responsesToChat.createStream,
};
