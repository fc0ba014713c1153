import type { LiveWorkerFacts, WorkersChange } from '../../contract/live.ts';

/** Applies a change to the workers. Returns the workers in the order in which they started. Unchanged workers stay the same objects. */
export function applyWorkersChange(
  workers: readonly LiveWorkerFacts[],
  { changed, gone }: WorkersChange,
): LiveWorkerFacts[] {
  const byId = new Map(workers.map((worker) => [worker.id, worker]));
  for (const id of gone) byId.delete(id);
  for (const worker of changed) byId.set(worker.id, worker);
  return [...byId.values()].sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
}

/**
 * Returns the newer list. An item that has not changed is the earlier object, so that React does not render it again.
 * @param newerItems items parsed from JSON
 */
export function reuseUnchanged<Item extends { id: string }>(
  earlierItems: readonly Item[] | undefined,
  newerItems: Item[],
): Item[] {
  if (!earlierItems) return newerItems;
  const earlierById = new Map(earlierItems.map((item) => [item.id, item]));
  return newerItems.map((item) => {
    const earlierItem = earlierById.get(item.id);
    return earlierItem && isEqual(earlierItem, item) ? earlierItem : item;
  });
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(b, name) && isEqual((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}
