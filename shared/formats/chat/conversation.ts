import { conversationOf, type Conversation } from '../conversation.ts';
import type { ChatRequest } from './request.ts';

/** The conversation that a chat request belongs to: named by `prompt_cache_key`, else known by its start. */
export function chatConversation({ messages, prompt_cache_key: name }: ChatRequest): Conversation {
  return conversationOf(name, startOf(messages));
}

/** The texts of the instructions and of the first message of the user. */
function* startOf(messages: ChatRequest['messages']): Generator<string> {
  for (const { role, content } of messages) {
    if (role === 'assistant' || role === 'tool') continue;
    if (typeof content === 'string') yield content;
    else if (Array.isArray(content)) for (const part of content) if (part.type === 'text') yield part.text;
    if (role === 'user') return;
  }
}
