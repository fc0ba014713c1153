import { digestConversation, type Conversation } from '../conversation.ts';
import type { MessagesRequest } from './request.ts';

/** Start of a block that Claude Code puts before the system prompt. The block may differ between requests of one conversation. */
const billingHeaderStart = 'x-anthropic-billing-header:';

/** Identifies the conversation of a `messages` request by its start. The body has no field that names the conversation. */
export function digestMessagesConversation({ system, messages }: MessagesRequest): Conversation {
  const firstMessage = messages.find(({ role }) => role === 'user');
  return digestConversation(undefined, listTexts([system ?? '', firstMessage?.content ?? '']));
}

function* listTexts(contents: readonly MessagesRequest['messages'][number]['content'][]): Generator<string> {
  for (const content of contents) {
    if (typeof content === 'string') yield content;
    else
      for (const block of content)
        if (block.type === 'text' && !block.text.startsWith(billingHeaderStart)) yield block.text;
  }
}
