/** Tokens that an image is taken to cost: about what common vision models spend on a screenshot. */
export const imageTokens = 1200;

/**
 * Roughly how many tokens a text has, by its bytes in UTF-8: English and code have about four to a token, and scripts
 * with three bytes a character about one character. Never 0 for a text that is not empty. Counts in no time, so it
 * serves where an exact count is not worth its cost, or where the upstream should have told and did not.
 */
export function estimateTokens(text: string): number {
  return estimateTokensOfBytes(Buffer.byteLength(text));
}

/** The same for text that is counted piece by piece: `bytes` is its length in UTF-8 so far. */
export function estimateTokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** Bytes of text up to which a streamed piece is taken for a single token, on average. */
const tokenBytes = 6;

/**
 * Roughly how many tokens a stream's pieces of text have: most engines send one token in each, some cloud APIs many.
 * @param bytes of all texts together
 */
export function estimateTokensOfPieces(pieces: number, bytes: number): number {
  return bytes > pieces * tokenBytes ? estimateTokensOfBytes(bytes) : pieces;
}
