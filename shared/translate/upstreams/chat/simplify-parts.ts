import type { ChatContent, ChatPart } from '#shared/formats/chat/request.ts';

/** Returns the text of content that is one text; any other content unchanged. Not every engine takes parts. */
export function simplifyParts(parts: ChatPart[]): ChatContent {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? first.text : parts;
}
