import type { Json, JsonObject } from '#shared/core/json.ts';

const maxImageCharacters = 48;

/**
 * Returns a request as a shell command, with the key in a variable and images shortened.
 * @param headers the headers besides the content type and the key
 */
export function toCurlCommand(url: string, headers: Readonly<Record<string, string>>, body: JsonObject): string {
  return [
    `curl -N ${quoteForShell(url)} \\`,
    `  -H "Authorization: Bearer $RTR_KEY" -H "Content-Type: application/json" \\`,
    ...Object.entries(headers).map(([name, value]) => `  -H "${name}: ${value}" \\`),
    `  -d ${quoteForShell(JSON.stringify(shortenImages(body), null, 2))}`,
  ].join('\n');
}

function shortenImages(value: Json | undefined): Json | undefined {
  if (typeof value === 'string') return isImageUrl(value) ? `${value.slice(0, maxImageCharacters)}…` : value;
  if (Array.isArray(value)) return value.map((item) => shortenImages(item) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      // The messages format has an image's bytes in `data`.
      name === 'data' && typeof field === 'string' ? `${field.slice(0, maxImageCharacters)}…` : shortenImages(field),
    ]),
  );
}

function isImageUrl(text: string): boolean {
  return text.startsWith('data:image/');
}

/** Quotes a text as one literal word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
