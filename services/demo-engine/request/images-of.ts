import type { ChatMessage } from './chat-request.ts';

/** The URLs of a message's images. */
export function imagesOf({ content }: Pick<ChatMessage, 'content'>): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
}
