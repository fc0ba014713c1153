import { setting } from '#shared/core/load-config.ts';
import { computeStoredBounds } from '#shared/store/stored-bounds.ts';
import type { IdempotencyBounds } from './idempotent-answers.ts';

export const idempotencySettings = {
  IDEMPOTENCY_GRACE_MS: setting.integer(
    'Time for which the answer to a request with an `Idempotency-Key` goes on without a client; at 0, the answer is cancelled at once',
    0,
    0,
    600_000,
  ),
};

/** Computes the bounds. One answer may take a quarter of the room of its owner, and at most 8 MiB. */
export function toIdempotencyBounds(config: Parameters<typeof computeStoredBounds>[1]): IdempotencyBounds {
  const bounds = computeStoredBounds('idempotentAnswers', config);
  return { ownerKeys: 10_000, answerBytes: Math.min(8 * 1024 ** 2, Math.floor(bounds.ownerBytes / 4)), ...bounds };
}
