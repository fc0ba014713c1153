import { findStringEnd } from './find-string-end.ts';
import { parseIfJson, type Json } from './json.ts';

/**
 * Counts of a JSON text: `values` are elements of lists and fields of objects; `groups` are lists and objects, which cost more to parse.
 */
export interface ValueCounts {
  values: number;
  groups: number;
}

/**
 * The limits of a request. They allow the token ids of the largest request for embeddings, and as many lists and objects as a process
 * parses and checks within 0.2 s. During this time, the process serves no other request.
 */
export const maxRequestValues: ValueCounts = { values: 500_000, groups: 100_000 };

const comma = 0x2c;
const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;

/** Whether a JSON text in UTF-8 has more values than `max`, without parsing it. Stops at the first value above `max`. */
export function hasMoreValues(text: Buffer, max: ValueCounts = maxRequestValues): boolean {
  // Each value takes at least a byte.
  if (text.length <= Math.min(max.values, max.groups)) return false;
  let { values, groups } = max;
  for (let position = 0; position < text.length; position += 1) {
    const byte = text[position];
    if (byte === quote) position = findStringEnd(text, position + 1);
    else if (byte === comma) values -= 1;
    else if (byte === openBracket || byte === openBrace) {
      values -= 1;
      groups -= 1;
    }
    if (values < 0 || groups < 0) return true;
  }
  return false;
}

/** The limits of an answer, which may have probabilities of each token. Its values take at most some hundred megabytes of memory. */
const maxAnswerValues: ValueCounts = { values: 2_000_000, groups: 500_000 };

/**
 * Parses JSON that a worker sent, before anything has checked it. Returns undefined for a text that is not JSON, and for one with more values
 * than an answer has: 57 MB of empty lists take a gigabyte of memory.
 */
export function parseAnswer(text: Buffer | string): Json | undefined {
  if (text.length <= maxAnswerValues.groups) return parseIfJson(text.toString());
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  return hasMoreValues(bytes, maxAnswerValues) ? undefined : parseIfJson(text.toString());
}
