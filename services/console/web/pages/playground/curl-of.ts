import type { Json, JsonObject } from '#shared/core/json.ts';
import { shellWord } from '../models/snippets-for.ts';
import type { Format } from '../../formats/conversation.ts';

/** Characters of an image that are shown; the rest would fill pages. */
const shownOfImage = 48;

/** The request as a command for a shell, with the key in a variable. Images are cut short. */
export function curlOf(url: string, format: Format, body: JsonObject): string {
  return [
    `curl -N ${shellWord(url)} \\`,
    `  -H "Authorization: Bearer $RTR_KEY" -H "Content-Type: application/json" \\`,
    ...(format === 'messages' ? [`  -H "anthropic-version: 2023-06-01" \\`] : []),
    `  -d ${shellWord(JSON.stringify(shorten(body), null, 2))}`,
  ].join('\n');
}

function shorten(value: Json | undefined): Json | undefined {
  if (typeof value === 'string') return isImage(value) ? `${value.slice(0, shownOfImage)}…` : value;
  if (Array.isArray(value)) return value.map((each) => shorten(each) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === 'data' && typeof each === 'string' ? `${each.slice(0, shownOfImage)}…` : shorten(each),
    ]),
  );
}

function isImage(text: string): boolean {
  return text.startsWith('data:image/');
}
