import { decode } from 'gpt-tokenizer/encoding/o200k_base';
import { encodeText } from '#shared/upstream/o200k-tokens.ts';

/** A piece of text that leaves at once, and how many tokens it is. */
export interface Piece {
  text: string;
  tokens: number;
}

/** Cuts a text at token borders. Tokens that end inside a character stay together with the next ones. */
export function splitIntoTokens(text: string): Piece[] {
  const pieces: Piece[] = [];
  let held: number[] = [];
  let at = 0;
  for (const token of encodeText(text)) {
    held.push(token);
    const piece = decode(held);
    if (!text.startsWith(piece, at)) continue;
    pieces.push({ text: piece, tokens: held.length });
    at += piece.length;
    held = [];
  }
  // A lone surrogate has no UTF-8 form and so does not come back from its tokens.
  if (held.length > 0) pieces.push({ text: text.slice(at), tokens: held.length });
  return pieces;
}

const words = ['One', ' two', ' three', ' four', ' five', ' six', ' seven', ' eight', ' nine', ' ten', ' one'];

/** Filler of exactly so many tokens. The pieces are shared: an answer of a million tokens is a list of references. */
export function makeFiller(tokens: number): Piece[] {
  return Array.from(
    { length: tokens },
    (_, index) => fillerPieces[index === 0 ? 0 : 1 + ((index - 1) % 10)] ?? noPiece,
  );
}

const noPiece: Piece = { text: '', tokens: 0 };
const fillerPieces: readonly Piece[] = words.map((text) => ({ text, tokens: 1 }));
