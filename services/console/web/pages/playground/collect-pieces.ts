import type { Piece } from '../../formats/conversation.ts';

/** Milliseconds for which pieces are collected before they are rendered together. Nobody would notice more frequent renderings. */
const collectMs = 40;

export interface PieceCollector {
  add: (pieces: Piece[]) => void;
  /** Calls `onPieces` at once with the pieces collected so far. */
  flush: () => void;
}

/** Collects the pieces of an answer, and calls `onPieces` with all pieces of the last `collectMs` milliseconds together. */
export function collectPieces(onPieces: (pieces: Piece[]) => void): PieceCollector {
  let collected: Piece[] = [];
  let timer: number | undefined;
  const flush = (): void => {
    window.clearTimeout(timer);
    timer = undefined;
    const pieces = collected;
    collected = [];
    if (pieces.length > 0) onPieces(pieces);
  };
  return {
    add: (pieces) => {
      collected.push(...pieces);
      timer ??= window.setTimeout(flush, collectMs);
    },
    flush,
  };
}
