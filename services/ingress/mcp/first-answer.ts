import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds without an answer after which the next one is asked too. */
const nextAfterMs = 250;

/**
 * Asks one after the other until one answers: the next one as soon as the one before it fails or is slow, so that those that never
 * answer hold up the others for moments. What is not needed any more is aborted.
 * @returns undefined if there is nobody to ask
 * @throws the error of the first one if none answers, or the signal's reason
 */
export async function firstAnswer<Name, Answer>(
  names: readonly Name[],
  ask: (name: Name, signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  if (names.length === 0) return undefined;
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const asked: Promise<Answer>[] = [];
  try {
    for (const name of names) {
      const latest = ask(name, either);
      asked.push(latest);
      const outcomes = [latest, Promise.any(asked)].map((each) =>
        each.then(
          (answer) => ({ answer }),
          () => undefined,
        ),
      );
      const slow = sleep(nextAfterMs, undefined, { signal: over.signal }).catch(() => undefined);
      const outcome = await Promise.race([...outcomes, slow]);
      if (outcome) return outcome.answer;
    }
    return await Promise.any(asked);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AggregateError ? error.errors[0] : error;
  } finally {
    over.abort();
  }
}
