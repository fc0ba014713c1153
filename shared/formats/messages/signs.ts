import { copyStartOfText, type RequestSigns, digestConversation, type Conversation } from '../request-signs.ts';
import { type MessagesRequest, isBillingHeader } from './request.ts';

export function readMessagesSigns({ system, messages, tools }: MessagesRequest): RequestSigns {
  const blocks = Array.isArray(system) ? system : [];
  return {
    instructions: copyStartOfText(typeof system === 'string' ? system : (blocks[0]?.text ?? '')),
    lastInstructions: blocks.slice(-4).map(({ text }) => copyStartOfText(text ?? '')),
    lastText: copyStartOfText(findLastText(messages)),
    hasOwnTools: (tools ?? []).some(({ type }) => type === undefined || type === null || type === 'custom'),
    cachesInstructions: blocks.some((block) => (block['cache_control'] ?? null) !== null),
    isCompaction: false,
  };
}

function findLastText(messages: MessagesRequest['messages']): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.findLast((block) => block.type === 'text')?.text ?? '';
}

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
