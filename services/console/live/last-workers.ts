import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';

/**
 * Returns the workers that alone serve some models or tools: their ids, each with the names of these models and tools. A worker does not
 * count as serving a model or tool with which it is ejected.
 */
export function findLastWorkers(pools: Iterable<LivePool>): Map<string, string[]> {
  /**
   * The id of the only worker found so far that serves a model or tool, by the name of the model or tool; undefined for several workers.
   */
  const onlyWorkers = new Map<string, string | undefined>();
  for (const pool of pools) {
    if (pool.contract === undefined) continue;
    const accepting = [...pool.workers].filter(({ announcement }) => announcement.accepting);
    for (const name of listNames(pool)) {
      let found = 0;
      let last: string | undefined;
      for (const { id, health } of accepting) {
        if (health.isEjected(name)) continue;
        last = id;
        found += 1;
        if (found > 1) break;
      }
      if (found > 0) onlyWorkers.set(name, found === 1 && !onlyWorkers.has(name) ? last : undefined);
    }
  }
  const names = new Map<string, string[]>();
  for (const [name, id] of onlyWorkers) {
    if (id === undefined) continue;
    const others = names.get(id);
    if (others) others.push(name);
    else names.set(id, [name]);
  }
  return names;
}

/** Returns the names of models and tools that clients can use. An entry that stands for the content of an MCP server is left out. */
function listNames({ models, tools }: LivePool): Set<string> {
  return new Set([...models.map(({ id }) => id), ...tools.flatMap(({ name, passes }) => (passes ? [] : [name]))]);
}
