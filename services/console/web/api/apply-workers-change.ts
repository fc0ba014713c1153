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
