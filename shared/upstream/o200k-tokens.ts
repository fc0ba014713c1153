import { setImmediate as nextTurn } from 'node:timers/promises';
import { countTokens as count, encode } from 'gpt-tokenizer/encoding/o200k_base';

/** Counts text that looks like a special token as plain text. */
const plainText = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

/**
 * Maximum characters per slice. Byte-pair merging is quadratic in a run without a blank. 64 KiB of one letter would block the event loop
 * for seconds.
 */
const maxSlice = 512;
const slicesPerTurn = 32;

/**
 * Counts the o200k_base tokens of a text without blocking the event loop. The text is counted in slices that end before a blank, where
 * tokens end, too. Only a run of more than 512 characters without a blank may count a few tokens more.
 */
export async function countTokens(text: string, signal: AbortSignal): Promise<number> {
  let tokens = 0;
  let slices = 0;
  for (const slice of sliceText(text)) {
    tokens += count(slice, plainText);
    slices += 1;
    if (slices % slicesPerTurn === 0) await nextTurn(undefined, { signal });
  }
  return tokens;
}

/** Returns the o200k_base tokens of a short text. */
export function encodeText(text: string): number[] {
  return [...sliceText(text)].flatMap((slice) => encode(slice, plainText));
}

function* sliceText(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > maxSlice) {
    const end = endOfSlice(text, start);
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function endOfSlice(text: string, start: number): number {
  const limit = start + maxSlice;
  for (let end = limit; end > start + 1; end -= 1) {
    if (text[end] === ' ' && /\S/.test(text[end - 1] ?? '')) return end;
  }
  const splitsPair = /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '');
  return splitsPair ? limit - 1 : limit;
}
