/** Estimated tokens of an image. Common vision models use about this many tokens for a screenshot. */
export const imageTokens = 1200;

/**
 * Estimates the tokens of a text from its UTF-8 bytes. English and code have about four bytes per token. Scripts with three bytes per
 * character have about one token per character. Returns at least 1 for a text that is not empty. The estimate is used where an exact count
 * is not worth its cost, or the upstream reports none.
 */
export function estimateTokens(text: string): number {
  return estimateTokensOfBytes(Buffer.byteLength(text));
}

export function estimateTokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** If the pieces of a stream have at most this many bytes on average, each piece counts as one token. */
const tokenBytes = 6;

/**
 * Estimates the tokens of a stream's text pieces. Most engines send one token per piece, but some cloud APIs send several.
 * @param bytes length of all pieces together
 */
export function estimateTokensOfPieces(pieces: number, bytes: number): number {
  return bytes > pieces * tokenBytes ? estimateTokensOfBytes(bytes) : pieces;
}
