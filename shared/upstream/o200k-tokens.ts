import { setImmediate as nextTurn } from 'node:timers/promises';
import { countTokens as count, encode } from 'gpt-tokenizer/encoding/o200k_base';

/** Settings that count text in the form of a special token as plain text. */
const plainText = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

/**
 * Maximum characters of a piece that is encoded at once. Byte-pair merging takes quadratic time in a run without a space: 64 KiB of one
 * letter would block the event loop for seconds.
 */
const maxPieceChars = 512;
const piecesPerLoopTurn = 32;

/**
 * Counts the o200k_base tokens of a text without blocking the event loop. Counts the text in pieces that end before a space, because tokens
 * end there, too. In a run of more than 512 characters without a space, the count may be a few tokens too high.
 */
export async function countTokens(text: string, signal: AbortSignal): Promise<number> {
  let tokens = 0;
  let pieces = 0;
  for (const piece of splitText(text)) {
    tokens += count(piece, plainText);
    pieces += 1;
    if (pieces % piecesPerLoopTurn === 0) await nextTurn(undefined, { signal });
  }
  return tokens;
}

/** Returns the o200k_base tokens of a short text. */
export function encodeText(text: string): number[] {
  return [...splitText(text)].flatMap((slice) => encode(slice, plainText));
}

function* splitText(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > maxPieceChars) {
    const end = findPieceEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function findPieceEnd(text: string, start: number): number {
  const limit = start + maxPieceChars;
  for (let end = limit; end > start + 1; end -= 1) {
    if (text[end] === ' ' && /\S/.test(text[end - 1] ?? '')) return end;
  }
  const splitsPair = /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '');
  return splitsPair ? limit - 1 : limit;
}
