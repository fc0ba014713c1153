import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import type { Translation } from '../translation.ts';
import { messagesUpstream } from '../upstreams/messages/messages-upstream.ts';
import { answerRules, requestRules } from './field-rules.ts';
import { responsesToMessagesReply } from './responses-to-messages-reply.ts';
import { responsesToMessagesRequest } from './responses-to-messages-request.ts';
import { ResponsesToMessagesStream } from './responses-to-messages-stream.ts';

export const responsesToMessages: Translation = {
  client: responsesFormat,
  upstream: messagesUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  recall: toRecalledRequest,
  request: responsesToMessagesRequest,
  reply: responsesToMessagesReply,
  stream: (answerContext) => new ResponsesToMessagesStream(answerContext),
};
