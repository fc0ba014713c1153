import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { computeAppliedEdits } from '../context/edit-context.ts';
import type { Translation } from '../translation.ts';
import { responsesUpstream } from '../upstreams/responses/responses-upstream.ts';
import { answerRules, requestRules } from './field-rules.ts';
import { messagesToResponsesReply } from './messages-to-responses-reply.ts';
import { readRequestedThinking } from '../vocabulary/shown-thinking.ts';
import { messagesToResponsesRequest } from './messages-to-responses-request.ts';
import { MessagesToResponsesStream } from './messages-to-responses-stream.ts';

export const messagesToResponses: Translation = {
  client: messagesFormat,
  upstream: responsesUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  recall: (body) => ({ ...computeAppliedEdits(body), ...readRequestedThinking(body) }),
  request: messagesToResponsesRequest,
  reply: messagesToResponsesReply,
  stream: (answerContext) => new MessagesToResponsesStream(answerContext),
};
