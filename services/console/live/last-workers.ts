import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';

/**
 * Finds the workers that are the only ones to serve a model or tool. Returns the names of these models and tools by the id of the worker. A
 * worker does not count as serving a model or tool with which it is ejected.
 */
export function findLastWorkers(pools: Iterable<LivePool>): Map<string, string[]> {
  /** The id of the only worker found so far, by the name of the model or tool that the worker serves; undefined for several workers. */
  const onlyWorkers = new Map<string, string | undefined>();
  for (const pool of pools) {
    if (pool.contract === undefined) continue;
    const accepting = [...pool.workers].filter(({ announcement }) => announcement.accepting);
    for (const name of listNames(pool)) {
      let count = 0;
      let workerId: string | undefined;
      for (const { id, health } of accepting) {
        if (health.isEjected(name)) continue;
        workerId = id;
        count += 1;
        if (count > 1) break;
      }
      if (count > 0) onlyWorkers.set(name, count === 1 && !onlyWorkers.has(name) ? workerId : undefined);
    }
  }
  const names = new Map<string, string[]>();
  for (const [name, id] of onlyWorkers) {
    if (id === undefined) continue;
    const namesOfWorker = names.get(id);
    if (namesOfWorker) namesOfWorker.push(name);
    else names.set(id, [name]);
  }
  return names;
}

/** Returns the names of models and tools that clients can use. An entry that stands for the content of an MCP server is left out. */
function listNames({ models, tools }: LivePool): Set<string> {
  return new Set([...models.map(({ id }) => id), ...tools.flatMap(({ name, passes }) => (passes ? [] : [name]))]);
}
