import { setting } from '#shared/core/load-config.ts';

/** The settings of batches, for every component that creates them or works on them. */
export const batchSettings = {
  BATCHES_OPEN: setting.integer('Most unfinished batches of one person, team or key without owner', 100, 1, 100_000),
  BATCHES_KEEP_DAYS: setting.integer('Days for which a batch is kept after its time has run out', 30, 1, 3_650),
};

export function toBatchKeepMs({ BATCHES_KEEP_DAYS: days }: { BATCHES_KEEP_DAYS: number }): number {
  return days * 24 * 3_600_000;
}
