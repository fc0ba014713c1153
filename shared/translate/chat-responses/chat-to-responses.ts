import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { ChatAnswerWriter } from '../chat/chat-answer-writer.ts';
import type { Translation } from '../translation.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';
import { responsesUpstream } from '../upstreams/responses/responses-upstream.ts';
import { chatToResponsesReply } from './chat-to-responses-reply.ts';
import { chatToResponsesRequest } from './chat-to-responses-request.ts';

export const chatToResponses: Translation = {
  client: chatFormat,
  upstream: responsesUpstream,
  passesHeaders: false,
  translateRequest: chatToResponsesRequest,
  translateReply: chatToResponsesReply,
  createStream: (answerContext) => new ResponsesReader(answerContext, new ChatAnswerWriter(answerContext)),
};
