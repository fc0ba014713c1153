import { copyStartOfText, type RequestSigns, digestConversation, type Conversation } from '../request-signs.ts';
import type { ChatContent, ChatRequest } from './request.ts';

const clientToolTypes: ReadonlySet<string> = new Set(['function', 'custom']);

export function readChatSigns({ messages, tools }: ChatRequest): RequestSigns {
  const instructions = messages.find(({ role }) => role === 'system' || role === 'developer')?.content;
  const lastUserContent = messages.findLast(({ role }) => role === 'user')?.content;
  return {
    instructions: copyStartOfText(findFirstText(instructions)),
    lastText: copyStartOfText(findFirstText(lastUserContent)),
    hasOwnTools: (tools ?? []).some(({ type }) => clientToolTypes.has(type)),
    cachesInstructions: false,
    isCompaction: false,
  };
}

function findFirstText(content: ChatContent | null | undefined): string {
  if (typeof content === 'string') return content;
  return content?.find((part) => part.type === 'text')?.text ?? '';
}

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
