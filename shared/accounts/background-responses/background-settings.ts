import { setting } from '#shared/core/load-config.ts';

/** The settings of background responses, for every component that creates them or works on them. */
export const backgroundSettings = {
  BACKGROUND_OPEN: setting.integer(
    'Most unfinished responses in the background of one person, team or key without owner',
    500,
    1,
    1_000_000,
  ),
  BACKGROUND_HOURS: setting.integer('Hours after which an unfinished response in the background fails', 24, 1, 720),
  BACKGROUND_OWNER_BYTES: setting.integer(
    'Most bytes in Redis of the requests and events of responses in the background, of one person, team or key without owner; the oldest finished responses go first. The unfinished responses of one owner take at most half of the part of `BACKGROUND_MAX_BYTES` that the unfinished responses of all others leave',
    32 * 1024 * 1024,
    1_024,
    64 * 1024 ** 3,
  ),
  BACKGROUND_MAX_BYTES: setting.integer(
    'Most bytes in Redis of the requests and events of all responses in the background; the oldest finished responses of the owner with the most go first',
    64 * 1024 * 1024,
    1_024,
    1024 ** 4,
  ),
};

const hourMs = 3_600_000;

export interface BackgroundBounds {
  /** Maximum number of unfinished responses of one owner. */
  maxOpen: number;
  /** Milliseconds from the creation of a response until it fails if it is still unfinished. */
  openMs: number;
  /** Milliseconds for which a response is kept after its end. */
  keepMs: number;
  /** Maximum bytes of the requests and events of one owner. */
  ownerBytes: number;
  /** Maximum bytes of the requests and events of all owners. */
  totalBytes: number;
}

export function toBackgroundBounds(config: {
  BACKGROUND_OPEN: number;
  BACKGROUND_HOURS: number;
  BACKGROUND_OWNER_BYTES: number;
  BACKGROUND_MAX_BYTES: number;
  RESPONSES_KEEP_HOURS: number;
}): BackgroundBounds {
  return {
    maxOpen: config.BACKGROUND_OPEN,
    openMs: config.BACKGROUND_HOURS * hourMs,
    keepMs: Math.max(1, config.RESPONSES_KEEP_HOURS) * hourMs,
    ownerBytes: config.BACKGROUND_OWNER_BYTES,
    totalBytes: config.BACKGROUND_MAX_BYTES,
  };
}
