import { messagesToMessagesReply } from './messages-to-messages-reply.ts';
import { messagesToMessagesRequest } from './messages-to-messages-request.ts';
import { MessagesToMessagesStream } from './messages-to-messages-stream.ts';
import type { Pair } from '../translation.ts';

/** Messages clients on upstreams of the same format: passes everything through but what makes the answer this router's own. */
export const messagesToMessages: Pair = {
  request: messagesToMessagesRequest,
  reply: messagesToMessagesReply,
  stream: (minted) => new MessagesToMessagesStream(minted),
};
