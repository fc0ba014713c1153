import { digestConversation, type Conversation } from '../conversation.ts';
import { isBillingHeader } from './read-system-texts.ts';
import type { MessagesRequest } from './request.ts';

/** Identifies the conversation of a `messages` request by its start. The body has no field that names the conversation. */
export function digestMessagesConversation({ system, messages }: MessagesRequest): Conversation {
  const firstMessage = messages.find(({ role }) => role === 'user');
  return digestConversation(undefined, listTexts([system ?? '', firstMessage?.content ?? '']));
}

function* listTexts(contents: readonly MessagesRequest['messages'][number]['content'][]): Generator<string> {
  for (const content of contents) {
    if (typeof content === 'string') yield content;
    else for (const block of content) if (block.type === 'text' && !isBillingHeader(block.text)) yield block.text;
  }
}
