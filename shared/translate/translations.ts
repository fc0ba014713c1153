import { chatToChat } from './same-format/chat-to-chat.ts';
import { chatToConversation } from './conversation/chat-to-conversation.ts';
import { chatToMessages } from './chat-messages/chat-to-messages.ts';
import { chatToResponses } from './chat-responses/chat-to-responses.ts';
import { completionsToCompletions } from './same-format/completions-to-completions.ts';
import { completionsToInfill } from './completions-infill/completions-to-infill.ts';
import type { Conversation } from './conversation/conversation.ts';
import { messagesToChat } from './messages-chat/messages-to-chat.ts';
import { messagesToConversation } from './conversation/messages-to-conversation.ts';
import { messagesToMessages } from './same-format/messages-to-messages.ts';
import { messagesToResponses } from './messages-responses/messages-to-responses.ts';
import { responsesToChat } from './responses-chat/responses-to-chat.ts';
import { responsesToConversation } from './conversation/responses-to-conversation.ts';
import { responsesToMessages } from './responses-messages/responses-to-messages.ts';
import { responsesToResponses } from './same-format/responses-to-responses.ts';
import { sameFormatTranslations } from './same-format/same-formats.ts';
import type { Translation } from './translation.ts';

/** Every translation from a client format to an upstream format. A new translation needs an entry here. */
export const translations: readonly Translation[] = [
  chatToChat,
  chatToMessages,
  chatToResponses,
  messagesToChat,
  messagesToMessages,
  messagesToResponses,
  responsesToChat,
  responsesToMessages,
  responsesToResponses,
  completionsToCompletions,
  completionsToInfill,
  ...sameFormatTranslations,
];

/** Every translation from a client format to a conversation for command-line agents. */
export const conversationTranslations: readonly Translation<Conversation>[] = [
  chatToConversation,
  messagesToConversation,
  responsesToConversation,
];
