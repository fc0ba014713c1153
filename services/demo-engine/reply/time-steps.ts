import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Step } from '../answer/plan-answer.ts';

/** Maximum steps that are yielded at once. */
const maxStepsAtOnce = 256;
/** Milliseconds. With shorter sleeps, thousands of concurrent streams would wake up too often. */
const minSleepMs = 4;

/**
 * Yields the steps of an answer when they are due. Steps that are due at the same time are yielded together. After a delay of the consumer,
 * more steps are therefore yielded at once.
 * @throws the signal's reason as soon as it aborts
 */
export async function* timeSteps(
  steps: readonly Step[],
  speed: { first_token_delay_ms: number; tokens_per_second: number },
  signal: AbortSignal,
): AsyncGenerator<readonly Step[]> {
  if (speed.first_token_delay_ms > 0) await sleep(speed.first_token_delay_ms, undefined, { signal });
  const startedAt = performance.now();
  const tokensPerMs = speed.tokens_per_second === 0 ? Infinity : speed.tokens_per_second / 1000;
  let tokens = 0;
  for (let at = 0; at < steps.length;) {
    signal.throwIfAborted();
    // The first token is due at once. Each later token is due after the time of one more token.
    const dueTokens =
      tokensPerMs === Infinity ? Infinity : 1 + Math.floor((performance.now() - startedAt) * tokensPerMs);
    let end = at;
    for (let step = steps[end]; step && tokens < dueTokens && end - at < maxStepsAtOnce; step = steps[end]) {
      tokens += step.tokens;
      end += 1;
    }
    if (end > at) yield steps.slice(at, end);
    at = end;
    if (at === steps.length) return;
    if (tokens < dueTokens) await nextTurn(undefined, { signal });
    else
      await sleep(Math.max(minSleepMs, startedAt + tokens / tokensPerMs - performance.now()), undefined, {
        signal,
      });
  }
}
