import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Returns the JSON path of the first image with this URL in a Responses request, such as `input[0].content[1].image_url`; undefined if
 * there is no such image.
 */
export function findImagePath({ input }: JsonObject, address: string): string | undefined {
  return findPathIn(input, 'input', address);
}

function findPathIn(items: Json | undefined, path: string, address: string): string | undefined {
  for (const [at, item] of (Array.isArray(items) ? items : []).entries()) {
    if (!isJsonObject(item)) continue;
    const here = `${path}[${at}]`;
    if (item['image_url'] === address) return `${here}.image_url`;
    const inside =
      findPathIn(item['content'], `${here}.content`, address) ?? findPathIn(item['output'], `${here}.output`, address);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
