const firstDelayMs = 5_000;
const longestDelayMs = 6 * 3_600_000;

/** How many times longer each delay is than the previous delay: 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, then 6 h at most. */
const factor = 4;

/** Each delay is up to a fifth longer or shorter, so that messages that failed together are not tried again together. */
const jitter = 0.2;

/** Milliseconds after a message was first sent until it is given up: a day. */
const retriedForMs = 24 * 3_600_000;

/**
 * Returns the milliseconds until a message is tried again; undefined if it is given up. The last try is made when the day ends.
 * @param attempts number of tries that have failed
 * @param elapsedMs milliseconds since the message was first sent
 */
export function computeRetryDelay(
  { attempts: failedTries, elapsedMs }: { attempts: number; elapsedMs: number },
  random: () => number = Math.random,
): number | undefined {
  const left = retriedForMs - elapsedMs;
  if (left <= 0) return undefined;
  const delay = Math.min(longestDelayMs, firstDelayMs * factor ** (failedTries - 1));
  return Math.round(Math.min(left, delay * (1 - jitter + 2 * jitter * random())));
}
