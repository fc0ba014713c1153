import type { ChatMessage } from './chat-request.ts';

/** The text of a message's content, its text parts joined by line ends. */
export function textOf({ content }: Pick<ChatMessage, 'content'>): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
