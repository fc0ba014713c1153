import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { toRecalledRequest } from '../responses/recalled-request.ts';
import type { Translation } from '../translation.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { answerRules, requestRules } from './field-rules.ts';
import { findImagePath } from './find-image-path.ts';
import { responsesToChatReply } from './responses-to-chat-reply.ts';
import { responsesToChatRequest } from './responses-to-chat-request.ts';
import { ResponsesToChatStream } from './responses-to-chat-stream.ts';

export const responsesToChat: Translation = {
  client: responsesFormat,
  upstream: chatUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  recall: toRecalledRequest,
  request: responsesToChatRequest,
  reply: responsesToChatReply,
  stream: (answerContext) => new ResponsesToChatStream(answerContext),
  pathOfAddress: findImagePath,
};
