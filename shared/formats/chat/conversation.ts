import { digestConversation, type Conversation } from '../conversation.ts';
import type { ChatRequest } from './request.ts';

/** Identifies the conversation of a chat request by its start and, if the request has one, by its `prompt_cache_key`. */
export function digestChatConversation({ messages, prompt_cache_key: name }: ChatRequest): Conversation {
  return digestConversation(name, listStartTexts(messages));
}

/** Yields the texts of the instructions and of the user's first message. */
function* listStartTexts(messages: ChatRequest['messages']): Generator<string> {
  for (const { role, content } of messages) {
    if (role === 'assistant' || role === 'tool') continue;
    if (typeof content === 'string') yield content;
    else if (Array.isArray(content)) for (const part of content) if (part.type === 'text') yield part.text;
    if (role === 'user') return;
  }
}
