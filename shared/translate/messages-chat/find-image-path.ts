import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Returns the JSON path of the first image with this URL in a `messages` request, such as `messages.0.content.1.source.url`; undefined if
 * there is no such image.
 */
export function findImagePath({ messages }: JsonObject, address: string): string | undefined {
  return findPathIn(messages, 'messages', address);
}

function findPathIn(items: Json | undefined, path: string, address: string): string | undefined {
  for (const [at, item] of (Array.isArray(items) ? items : []).entries()) {
    if (!isJsonObject(item)) continue;
    const { type, source, content } = item;
    const here = `${path}.${at}`;
    if (type === 'image' && isJsonObject(source) && source['url'] === address) return `${here}.source.url`;
    const inside = findPathIn(content, `${here}.content`, address);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
