import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of one part, after which the event loop has its turn. */
const partMs = 4;

/**
 * Does something for each item, a few at a time, so that thousands of them do not hold up the streams.
 * @param isOver looked at before each item: whether nothing more is to be done
 * @returns the milliseconds of work, without what was done between the parts
 */
export async function inParts<Item>(
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
