import { hasMoreValues, type ValueCounts } from './has-more-values.ts';
import { parseIfJson, type Json } from './json.ts';

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
