import type { LivePool } from '#shared/broker/dispatch/workers/live-pool.ts';

/**
 * The workers that are the last ones to take requests for a model or tool, by id, with the names of what nobody would serve without
 * them. A worker that is ejected with a model does not count for it.
 */
export function lastWorkers(pools: Iterable<LivePool>): Map<string, string[]> {
  /** The only worker by name so far; undefined where there are several. */
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

/** What clients can name: models, and tools but not the content of MCP servers. */
function namesOf({ models, tools }: LivePool): Set<string> {
  return new Set([...models.map(({ id }) => id), ...tools.flatMap(({ name, passes }) => (passes ? [] : [name]))]);
}
