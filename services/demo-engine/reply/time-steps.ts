import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Step } from '../answer/plan-answer.ts';

const stepsPerTurn = 256;
/** Milliseconds of the shortest sleep. With shorter sleeps, thousands of concurrent streams would wake up too often. */
const shortestSleepMs = 4;

/**
 * Yields an answer's steps when they are due. Steps that are due at the same time are yielded together, so that a group that follows a
 * delay of the consumer is larger.
 * @throws the signal's reason as soon as it aborts
 */
export async function* timeSteps(
  steps: readonly Step[],
  pace: { first_token_delay_ms: number; tokens_per_second: number },
  signal: AbortSignal,
): AsyncGenerator<readonly Step[]> {
  if (pace.first_token_delay_ms > 0) await sleep(pace.first_token_delay_ms, undefined, { signal });
  const startedAt = performance.now();
  const perMillisecond = pace.tokens_per_second === 0 ? Infinity : pace.tokens_per_second / 1000;
  let tokens = 0;
  for (let at = 0; at < steps.length;) {
    signal.throwIfAborted();
    // The first token is due at once, and each later token after its full share of the time.
    const dueTokens =
      perMillisecond === Infinity ? Infinity : 1 + Math.floor((performance.now() - startedAt) * perMillisecond);
    let end = at;
    for (let step = steps[end]; step && tokens < dueTokens && end - at < stepsPerTurn; step = steps[end]) {
      tokens += step.tokens;
      end += 1;
    }
    if (end > at) yield steps.slice(at, end);
    at = end;
    if (at === steps.length) return;
    if (tokens < dueTokens) await nextTurn(undefined, { signal });
    else
      await sleep(Math.max(shortestSleepMs, startedAt + tokens / perMillisecond - performance.now()), undefined, {
        signal,
      });
  }
}
