const firstDelayMs = 5_000;
const maxDelayMs = 6 * 3_600_000;

/** The ratio of each delay to the previous one: 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, then 6 h. */
const delayRatio = 4;

/** Each delay is up to a fifth longer or shorter, so that messages that failed together are not tried again together. */
const jitter = 0.2;

/** Milliseconds after a message was first sent until it is given up: a day. */
const retriedForMs = 24 * 3_600_000;

/**
 * Returns the milliseconds until a message is tried again; undefined if the message is given up. The last try is made 24 hours after the
 * message was first sent.
 * @param attempts number of tries that have failed
 * @param elapsedMs milliseconds since the message was first sent
 */
export function computeRetryDelay(
  { attempts: failedTries, elapsedMs }: { attempts: number; elapsedMs: number },
  random: () => number = Math.random,
): number | undefined {
  const remainingMs = retriedForMs - elapsedMs;
  if (remainingMs <= 0) return undefined;
  const delay = Math.min(maxDelayMs, firstDelayMs * delayRatio ** (failedTries - 1));
  return Math.round(Math.min(remainingMs, delay * (1 - jitter + 2 * jitter * random())));
}
