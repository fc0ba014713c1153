import type { Piece } from '../../formats/conversation.ts';

/** Milliseconds for which pieces are collected before they are shown. Nobody would see more frequent renderings. */
const collectMs = 40;

export interface CollectedPieces {
  add: (pieces: Piece[]) => void;
  /** Calls back at once with the pieces collected so far. */
  flush: () => void;
}

/** Collects pieces of an answer, and calls back with them a few times a second. */
export function collectPieces(onPieces: (pieces: Piece[]) => void): CollectedPieces {
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
