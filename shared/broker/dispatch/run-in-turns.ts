import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work in one turn, after which the event loop may do other work. */
const turnMs = 4;

/**
 * Calls `act` for each item, a few items in each turn of the event loop, so that thousands of items do not delay the streams.
 * @param isOver called before each item; if it returns true, the remaining items are skipped
 * @returns the milliseconds of work, without the time between the turns
 */
export async function runInTurns<Item>(
  items: Iterable<Item>,
  act: (item: Item) => void,
  isOver: () => boolean,
): Promise<number> {
  let tookMs = 0;
  let turnStartedAt = performance.now();
  for (const item of Array.from(items)) {
    if (isOver()) break;
    act(item);
    const turnTookMs = performance.now() - turnStartedAt;
    if (turnTookMs < turnMs) continue;
    tookMs += turnTookMs;
    await nextTurn();
    turnStartedAt = performance.now();
  }
  return tookMs + performance.now() - turnStartedAt;
}
