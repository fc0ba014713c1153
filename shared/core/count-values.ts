import { endOfString } from './json-lists.ts';

/**
 * Values in a request at most: elements of lists and fields of objects. As many token ids as the largest embeddings have, and what a
 * process parses within 0.2 s: nobody else is served meanwhile.
 */
export const mostValues = 500_000;

const comma = 0x2c;
const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Whether a JSON text in UTF-8 has more values than this, without parsing it. It stops at the first one too many. */
export function hasMoreValues(text: Buffer, most = mostValues): boolean {
  // Each takes a byte at least.
  if (text.length <= most) return false;
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at + 1);
    else if (byte === comma || byte === openBracket || byte === openBrace) count += 1;
    if (count > most) return true;
  }
  return false;
}
