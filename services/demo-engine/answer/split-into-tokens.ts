import { decode } from 'gpt-tokenizer/encoding/o200k_base';
import { encodeText } from '#shared/upstream/o200k-tokens.ts';

/** A piece of text that is sent at once, and its token count. */
export interface Piece {
  text: string;
  tokens: number;
}

/** Splits a text at token boundaries. A token that ends within a character is joined with the next tokens. */
export function splitIntoTokens(text: string): Piece[] {
  const pieces: Piece[] = [];
  let pending: number[] = [];
  let at = 0;
  for (const token of encodeText(text)) {
    pending.push(token);
    const piece = decode(pending);
    if (!text.startsWith(piece, at)) continue;
    pieces.push({ text: piece, tokens: pending.length });
    at += piece.length;
    pending = [];
  }
  // A lone surrogate has no UTF-8 form, so its decoded tokens differ from it.
  if (pending.length > 0) pieces.push({ text: text.slice(at), tokens: pending.length });
  return pieces;
}

export function countTokensIn(text: string): number {
  return encodeText(text).length;
}

/**
 * Returns the pieces of a text after `beginning`; undefined if the text does not begin with `beginning`. If `beginning` ends within a
 * piece, the rest of that piece has 0 tokens.
 */
export function takePiecesAfter(pieces: readonly Piece[], beginning: string): Piece[] | undefined {
  let at = 0;
  for (const [index, { text }] of pieces.entries()) {
    if (at === beginning.length) return pieces.slice(index);
    const part = beginning.slice(at, at + text.length);
    if (!text.startsWith(part)) return undefined;
    at += part.length;
    if (part.length < text.length) return [{ text: text.slice(part.length), tokens: 0 }, ...pieces.slice(index + 1)];
  }
  return at === beginning.length ? [] : undefined;
}

const fillerWords = ['One', ' two', ' three', ' four', ' five', ' six', ' seven', ' eight', ' nine', ' ten', ' one'];

/** Returns filler of exactly this many tokens. Equal tokens share one piece, so that a million tokens take little memory. */
export function makeFiller(tokens: number): Piece[] {
  return Array.from(
    { length: tokens },
    (_, index) => fillerPieces[index === 0 ? 0 : 1 + ((index - 1) % 10)] ?? noPiece,
  );
}

const noPiece: Piece = { text: '', tokens: 0 };
const fillerPieces: readonly Piece[] = fillerWords.map((text) => ({ text, tokens: 1 }));
