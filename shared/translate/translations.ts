import { chatToChat } from './chat-chat/chat-to-chat.ts';
import { chatToMessages } from './chat-messages/chat-to-messages.ts';
import { messagesToChat } from './messages-chat/messages-to-chat.ts';
import { messagesToMessages } from './messages-messages/messages-to-messages.ts';
import type { Pair } from './translation.ts';

/** The formats that models are asked in. */
export type FormatName = 'chat' | 'messages';

const pairs: Readonly<Record<FormatName, Readonly<Record<FormatName, Pair>>>> = {
  chat: { chat: chatToChat, messages: chatToMessages },
  messages: { chat: messagesToChat, messages: messagesToMessages },
};

/** The translator for a client of one format on an upstream of another, or of the same. */
export function pairFor(client: FormatName, upstream: FormatName): Pair {
  return pairs[client][upstream];
}
