import type { LivePool } from '#shared/broker/dispatch/workers/live-pool.ts';

/**
 * Returns the workers without which nobody would serve some models or tools, by id, with the names of these models and tools. A worker that
 * is ejected with a model does not count as serving it.
 */
export function lastWorkers(pools: Iterable<LivePool>): Map<string, string[]> {
  /** The only worker so far that serves a model or tool, by the name of the latter; undefined if there are several. */
  const only = new Map<string, string | undefined>();
  for (const pool of pools) {
    if (pool.contract === undefined) continue;
    const accepting = [...pool.workers].filter(({ announcement }) => announcement.accepting);
    for (const name of namesOf(pool)) {
      let found = 0;
      let last: string | undefined;
      for (const { id, health } of accepting) {
        if (health.isEjected(name)) continue;
        last = id;
        found += 1;
        if (found > 1) break;
      }
      if (found > 0) only.set(name, found === 1 && !only.has(name) ? last : undefined);
    }
  }
  const names = new Map<string, string[]>();
  for (const [name, id] of only) {
    if (id === undefined) continue;
    const others = names.get(id);
    if (others) others.push(name);
    else names.set(id, [name]);
  }
  return names;
}

/** Returns the names of models and tools that clients can use. An entry that stands for the content of an MCP server is left out. */
function namesOf({ models, tools }: LivePool): Set<string> {
  return new Set([...models.map(({ id }) => id), ...tools.flatMap(({ name, passes }) => (passes ? [] : [name]))]);
}
