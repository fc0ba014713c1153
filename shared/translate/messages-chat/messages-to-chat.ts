import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { computeAppliedEdits } from '../context/edit-context.ts';
import { readRequestedThinking } from '../vocabulary/shown-thinking.ts';
import type { Translation } from '../translation.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { messagesToChatReply } from './messages-to-chat-reply.ts';
import { messagesToChatRequest } from './messages-to-chat-request.ts';
import { MessagesToChatStream } from './messages-to-chat-stream.ts';
import { answerRules, requestRules } from './field-rules.ts';
import { findImagePath } from './find-image-path.ts';

export const messagesToChat: Translation = {
  client: messagesFormat,
  upstream: chatUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  recall: (body) => ({ ...computeAppliedEdits(body), ...readRequestedThinking(body) }),
  request: messagesToChatRequest,
  reply: messagesToChatReply,
  stream: (answerContext) => new MessagesToChatStream(answerContext),
  pathOfAddress: findImagePath,
};
