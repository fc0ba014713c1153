import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { computeAppliedEdits } from '../context/edit-context.ts';
import { MessagesAnswerWriter } from '../messages/messages-answer-writer.ts';
import type { Translation } from '../translation.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';
import { responsesUpstream } from '../upstreams/responses/responses-upstream.ts';
import { messagesToResponsesReply } from './messages-to-responses-reply.ts';
import { readRecalledThinking, readRequestedThinking } from '../vocabulary/shown-thinking.ts';
import { messagesToResponsesRequest } from './messages-to-responses-request.ts';

export const messagesToResponses: Translation = {
  client: messagesFormat,
  upstream: responsesUpstream,
  passesHeaders: false,
  recallFields: (body) => ({ ...computeAppliedEdits(body), ...readRequestedThinking(body) }),
  translateRequest: messagesToResponsesRequest,
  translateReply: messagesToResponsesReply,
  createStream: (answerContext) => {
    // If the client asks for thinking without text, the upstream itself omits the text.
    const shownThinking = readRecalledThinking(answerContext.recalled) === 'none' ? 'none' : 'text';
    return new ResponsesReader(answerContext, new MessagesAnswerWriter(answerContext, shownThinking), true);
  },
};
