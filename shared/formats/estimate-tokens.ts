/** Estimated tokens of an image: about what common vision models use for a screenshot. */
export const imageTokens = 1200;

/**
 * Estimates the tokens of a text from its bytes in UTF-8: English and code have about four bytes per token, scripts with
 * three bytes per character about one character. Never 0 for a text that is not empty. For uses where an exact count is not
 * worth its cost, or where the upstream reports none.
 */
export function estimateTokens(text: string): number {
  return estimateTokensOfBytes(Buffer.byteLength(text));
}

/** Estimates the tokens of a text of this many bytes in UTF-8. */
export function estimateTokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** Average bytes of text up to which each streamed piece counts as one token. */
const tokenBytes = 6;

/**
 * Estimates the tokens of a stream's pieces of text: most engines send one token per piece, some cloud APIs many.
 * @param bytes length of all pieces together
 */
export function estimateTokensOfPieces(pieces: number, bytes: number): number {
  return bytes > pieces * tokenBytes ? estimateTokensOfBytes(bytes) : pieces;
}
