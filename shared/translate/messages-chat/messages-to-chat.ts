import { messagesToChatReply } from './messages-to-chat-reply.ts';
import { messagesToChatRequest } from './messages-to-chat-request.ts';
import { MessagesToChatStream } from './messages-to-chat-stream.ts';
import type { Pair } from '../translation.ts';

/** Messages clients on upstreams that speak the chat format. */
export const messagesToChat: Pair = {
  request: messagesToChatRequest,
  reply: messagesToChatReply,
  stream: (minted) => new MessagesToChatStream(minted),
};
