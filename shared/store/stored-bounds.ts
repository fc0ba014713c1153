import type { z } from 'zod';
import { setting } from '#shared/core/load-config.ts';

/** The room in Redis for what is kept for owners for a while. It must be the same in all processes that store such things. */
export const storedSettings = {
  STORED_OWNER_BYTES: setting.integer(
    'Most bytes in Redis of what is kept for one person, team or key without owner: a quarter each for stored responses, responses in the background, answers to idempotency keys, and recordings; the oldest go first',
    128 * 1024 * 1024,
    16_384,
    256 * 1024 ** 3,
  ),
  STORED_MAX_BYTES: setting.integer(
    'Most bytes in Redis of what is kept for all owners: a third each for stored responses and recordings, a sixth each for responses in the background and answers to idempotency keys; the oldest of the owner with the most go first',
    384 * 1024 * 1024,
    24_576,
    4 * 1024 ** 4,
  ),
};

export interface StoredBounds {
  /** Maximum bytes of one owner. */
  ownerBytes: number;
  /** Maximum bytes of all owners. */
  totalBytes: number;
}

/** The parts of the two settings that each kind of stored things may take: the setting divided by the number. */
const divisors = {
  responses: { owner: 4, total: 3 },
  background: { owner: 4, total: 6 },
  idempotentAnswers: { owner: 4, total: 6 },
  recordings: { owner: 4, total: 3 },
} as const;

/** Computes the bounds of one kind of stored things. */
export function computeStoredBounds(
  kind: keyof typeof divisors,
  settings: z.output<z.ZodObject<typeof storedSettings>>,
): StoredBounds {
  const { owner, total } = divisors[kind];
  return {
    ownerBytes: Math.floor(settings.STORED_OWNER_BYTES / owner),
    totalBytes: Math.floor(settings.STORED_MAX_BYTES / total),
  };
}
