import type { Piece } from './split-into-tokens.ts';

/** A text up to its first stop string. */
export interface StoppedText {
  pieces: Piece[];
  /** The stop string that ended the text; null if no stop string did. */
  stop: string | null;
}

/**
 * Cuts a text before the stop string that ends first. A stop string may extend over several pieces. The tokens of the stop string count,
 * because they were generated.
 */
export function applyStop(pieces: readonly Piece[], stops: readonly string[]): StoppedText {
  const text = stops.length > 0 ? pieces.map((piece) => piece.text).join('') : '';
  const occurrences = stops
    .map((stop) => ({ stop, at: stop === '' ? -1 : text.indexOf(stop) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at + a.stop.length - (b.at + b.stop.length) || a.at - b.at);
  const [firstOccurrence] = occurrences;
  if (!firstOccurrence) return { pieces: [...pieces], stop: null };
  const keptPieces: Piece[] = [];
  let position = 0;
  for (const piece of pieces) {
    if (position >= firstOccurrence.at + firstOccurrence.stop.length) break;
    keptPieces.push({ text: piece.text.slice(0, Math.max(0, firstOccurrence.at - position)), tokens: piece.tokens });
    position += piece.text.length;
  }
  return { pieces: keptPieces, stop: firstOccurrence.stop };
}
