import { hash } from 'node:crypto';

/** Number of dimensions if the request sets none. */
export const defaultDimensions = 64;

/**
 * Returns a vector of length 1 for a text. Each word has its own direction, so that texts with common words are similar. The same text
 * always has the same vector.
 */
export function embedText(text: string, dimensions = defaultDimensions): number[] {
  return embedWords(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text], dimensions);
}

/** Returns the vector of a text in the form of tokens. */
export function embedTokens(tokens: readonly number[], dimensions = defaultDimensions): number[] {
  return embedWords(
    tokens.map((token) => `#${token}`),
    dimensions,
  );
}

/** Returns the cosine of two vectors of length 1. */
export function computeSimilarity(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0);
}

function embedWords(words: readonly string[], dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of words) {
    const digest = hash('sha256', word, 'buffer');
    // Each word adds or subtracts 1 in four of the dimensions.
    for (let at = 0; at < 16; at += 4) {
      const bits = digest.readUInt32LE(at);
      const dimension = (bits >>> 1) % dimensions;
      vector[dimension] = (vector[dimension] ?? 0) + (bits % 2 === 0 ? 1 : -1);
    }
  }
  const length = Math.hypot(...vector);
  // The directions of the words may cancel each other out. The text still needs a vector of length 1.
  if (length === 0) return vector.map((_, at) => (at === 0 ? 1 : 0));
  return vector.map((number) => Math.fround(number / length));
}
