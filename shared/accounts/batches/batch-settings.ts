/** Maximum of unfinished batches of one person, team or key without owner. */
export const maxOpenBatches = 100;

/** Milliseconds for which a batch is kept after its time has run out. */
export const batchKeepMs = 30 * 24 * 3_600_000;
