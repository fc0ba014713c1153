import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds without an answer after which the next name is asked as well. */
const nextAfterMs = 250;

/**
 * Calls `ask` with one name after the other until a call succeeds. The next call is made as soon as the last call fails or is slow, so that
 * a server that never answers delays the others only a little. The remaining calls are aborted.
 * @returns the first answer; undefined if there are no names
 * @throws the error of the first call if no call succeeds, or the signal's reason
 */
export async function askInTurn<Name, Answer>(
  names: readonly Name[],
  ask: (name: Name, signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  if (names.length === 0) return undefined;
  const over = new AbortController();
  const anySignal = AbortSignal.any([signal, over.signal]);
  const calls: Promise<Answer>[] = [];
  try {
    for (const name of names) {
      const latest = ask(name, anySignal);
      calls.push(latest);
      const outcomes = [latest, Promise.any(calls)].map((each) =>
        each.then(
          (answer) => ({ answer }),
          () => undefined,
        ),
      );
      const slow = sleep(nextAfterMs, undefined, { signal: over.signal }).catch(() => undefined);
      const outcome = await Promise.race([...outcomes, slow]);
      if (outcome) return outcome.answer;
    }
    return await Promise.any(calls);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AggregateError ? error.errors[0] : error;
  } finally {
    over.abort();
  }
}
