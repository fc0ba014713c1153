import { setting } from '#shared/core/load-config.ts';

export const idempotencySettings = {
  IDEMPOTENCY_GRACE_MS: setting.integer(
    'Time for which the answer to a request with an `Idempotency-Key` goes on without a client; at 0, the answer is cancelled at once',
    0,
    0,
    600_000,
  ),
  IDEMPOTENCY_KEYS: setting.integer(
    'Most idempotency keys of one person, team or key without owner that are known at once',
    10_000,
    1,
    1_000_000,
  ),
  IDEMPOTENCY_ANSWER_BYTES: setting.integer(
    'Most bytes in Redis of one answer that is kept for an idempotency key; a longer answer is not kept',
    8 * 1024 * 1024,
    1_024,
    256 * 1024 ** 2,
  ),
  IDEMPOTENCY_OWNER_BYTES: setting.integer(
    'Most bytes in Redis of the answers kept for idempotency keys of one person, team or key without owner; the oldest go first',
    32 * 1024 * 1024,
    1_024,
    64 * 1024 ** 3,
  ),
  IDEMPOTENCY_MAX_BYTES: setting.integer(
    'Most bytes in Redis of all answers kept for idempotency keys; the oldest answers of the owner with the most bytes go first',
    64 * 1024 * 1024,
    1_024,
    1024 ** 4,
  ),
};

export interface IdempotencyBounds {
  /** Maximum of keys of an owner. */
  ownerKeys: number;
  /** Maximum bytes of one answer. */
  answerBytes: number;
  /** Maximum bytes of all answers of an owner. */
  ownerBytes: number;
  /** Maximum bytes of all answers. */
  totalBytes: number;
}

export function toIdempotencyBounds(config: {
  IDEMPOTENCY_KEYS: number;
  IDEMPOTENCY_ANSWER_BYTES: number;
  IDEMPOTENCY_OWNER_BYTES: number;
  IDEMPOTENCY_MAX_BYTES: number;
}): IdempotencyBounds {
  return {
    ownerKeys: config.IDEMPOTENCY_KEYS,
    answerBytes: config.IDEMPOTENCY_ANSWER_BYTES,
    ownerBytes: config.IDEMPOTENCY_OWNER_BYTES,
    totalBytes: config.IDEMPOTENCY_MAX_BYTES,
  };
}
