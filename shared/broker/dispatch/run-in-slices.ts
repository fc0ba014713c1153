import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which the event loop continues with other work. */
const partMs = 4;

/**
 * Calls `act` for each item, a few at a time, so that thousands of items do not delay the streams.
 * @param isOver called before each item; ends the work if true
 * @returns the milliseconds of work, without the time between the parts
 */
export async function runInSlices<Item>(
  items: Iterable<Item>,
  act: (item: Item) => void,
  isOver: () => boolean,
): Promise<number> {
  let tookMs = 0;
  let begin = performance.now();
  for (const item of Array.from(items)) {
    if (isOver()) break;
    act(item);
    const partTookMs = performance.now() - begin;
    if (partTookMs < partMs) continue;
    tookMs += partTookMs;
    await nextTurn();
    begin = performance.now();
  }
  return tookMs + performance.now() - begin;
}
