import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Content that consists of text parts only becomes one string; any other content stays as it is. */
export function joinTexts(message: JsonObject): JsonObject {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const texts: string[] = [];
  for (const part of content) {
    if (!isJsonObject(part) || part.type !== 'text' || typeof part.text !== 'string') return message;
    texts.push(part.text);
  }
  return { ...message, content: texts.join('\n') };
}
