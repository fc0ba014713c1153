import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import type { Translation } from '../translation.ts';
import { messagesUpstream } from '../upstreams/messages/messages-upstream.ts';
import { messagesToMessagesReply } from './messages-to-messages-reply.ts';
import { messagesToMessagesRequest } from './messages-to-messages-request.ts';
import { MessagesToMessagesStream } from './messages-to-messages-stream.ts';

/** Changes only the fields that identify the answer, and content that only one upstream can read. */
export const messagesToMessages: Translation = {
  client: messagesFormat,
  upstream: messagesUpstream,
  passesHeaders: true,
  translateRequest: messagesToMessagesRequest,
  translateReply: messagesToMessagesReply,
  createStream: (answerContext) => new MessagesToMessagesStream(answerContext),
};
