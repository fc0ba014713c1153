import type { Piece } from './split-into-tokens.ts';

/** A text up to its first stop string. */
export interface Stopped {
  pieces: Piece[];
  /** The stop string that ended the text; null if no stop string did. */
  stop: string | null;
}

/**
 * Cuts a text before the stop string that is complete first, wherever the borders of pieces are. The tokens of the stop string count,
 * because they were generated.
 */
export function applyStop(pieces: readonly Piece[], stops: readonly string[]): Stopped {
  const text = stops.length > 0 ? pieces.map((piece) => piece.text).join('') : '';
  const found = stops
    .map((stop) => ({ stop, at: stop === '' ? -1 : text.indexOf(stop) }))
    .filter(({ at }) => at >= 0)
    .toSorted((one, other) => one.at + one.stop.length - (other.at + other.stop.length) || one.at - other.at);
  const [first] = found;
  if (!first) return { pieces: [...pieces], stop: null };
  const kept: Piece[] = [];
  let position = 0;
  for (const piece of pieces) {
    if (position >= first.at + first.stop.length) break;
    kept.push({ text: piece.text.slice(0, Math.max(0, first.at - position)), tokens: piece.tokens });
    position += piece.text.length;
  }
  return { pieces: kept, stop: first.stop };
}
