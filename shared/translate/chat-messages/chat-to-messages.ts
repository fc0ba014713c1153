import { chatToMessagesReply } from './chat-to-messages-reply.ts';
import { chatToMessagesRequest } from './chat-to-messages-request.ts';
import { ChatToMessagesStream } from './chat-to-messages-stream.ts';
import type { Pair } from '../translation.ts';

/** Chat clients on upstreams that speak the messages format. */
export const chatToMessages: Pair = {
  request: chatToMessagesRequest,
  reply: chatToMessagesReply,
  stream: (minted) => new ChatToMessagesStream(minted),
};
