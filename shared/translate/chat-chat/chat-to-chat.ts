import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import type { Translation } from '../translation.ts';
import { chatUpstream } from '../upstreams/chat/chat-upstream.ts';
import { chatToChatReply } from './chat-to-chat-reply.ts';
import { chatToChatRequest } from './chat-to-chat-request.ts';
import { ChatToChatStream } from './chat-to-chat-stream.ts';
import { answerRules, requestRules } from './field-rules.ts';

/** Chat clients on chat upstreams: passes everything but what makes the answer this router's own. */
export const chatToChat: Translation = {
  client: chatFormat,
  upstream: chatUpstream,
  requestRules,
  answerRules,
  passesHeaders: true,
  request: chatToChatRequest,
  reply: chatToChatReply,
  stream: (minted) => new ChatToChatStream(minted),
};
