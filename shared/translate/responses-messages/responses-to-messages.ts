import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Translation } from '../translation.ts';
import { MessagesReader } from '../upstreams/messages/messages-reader.ts';
import { messagesUpstream } from '../upstreams/messages/messages-upstream.ts';
import { responsesToMessagesRequest } from './responses-to-messages-request.ts';

export const responsesToMessages: Translation = {
  client: responsesFormat,
  upstream: messagesUpstream,
  passesHeaders: false,
  recallFields: toRecalledRequest,
  translateRequest: responsesToMessagesRequest,
  translateReply: (body, answerContext) => {
    const writer = new ResponsesAnswerWriter(answerContext);
    const ending = new MessagesReader(answerContext, writer).readWhole(body);
    return { body: writer.response, ending };
  },
  createStream: (answerContext) => new MessagesReader(answerContext, new ResponsesAnswerWriter(answerContext)),
};
