import { chatToChatReply } from './chat-to-chat-reply.ts';
import { chatToChatRequest } from './chat-to-chat-request.ts';
import { ChatToChatStream } from './chat-to-chat-stream.ts';
import type { Pair } from '../translation.ts';

/** Chat clients on chat upstreams: passes everything through but what makes the answer this router's own. */
export const chatToChat: Pair = {
  request: chatToChatRequest,
  reply: chatToChatReply,
  stream: (minted) => new ChatToChatStream(minted),
};
