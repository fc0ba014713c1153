import type { JournalBounds } from '#shared/store/answer-journal/answer-journal.ts';
import { computeStoredBounds } from '#shared/store/stored-bounds.ts';

/** Maximum bytes of the sealed events of one response. */
const maxEventBytes = 16 * 1024 * 1024;

const hourMs = 3_600_000;

export interface BackgroundBounds extends JournalBounds {
  /** Maximum number of unfinished responses of one owner. */
  maxOpen: number;
  /** Milliseconds from the creation of a response until it fails if it is still unfinished. */
  openMs: number;
  /** Milliseconds for which a response is kept after its end. */
  keepMs: number;
}

export function toBackgroundBounds(
  config: Parameters<typeof computeStoredBounds>[1] & { RESPONSES_KEEP_HOURS: number },
): BackgroundBounds {
  return {
    maxOpen: 500,
    openMs: 24 * hourMs,
    keepMs: Math.max(1, config.RESPONSES_KEEP_HOURS) * hourMs,
    answerBytes: maxEventBytes,
    ...computeStoredBounds('background', config),
  };
}
