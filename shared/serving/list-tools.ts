import type { ToolInfo } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { readToolPermits, type ToolPermits } from './tool-permits.ts';
import type { Caller } from './caller.ts';

/** A tool of the connected workers, with the name of one worker that has it. */
export interface ListedTool extends ToolInfo {
  worker: string;
}

/**
 * Lists every permitted tool of the connected workers once, sorted by name. If workers describe a tool differently, the description of the
 * worker that started first counts. All ingresses therefore return the same list.
 */
export function listTools(pools: Iterable<LivePool>, { allows }: Pick<ToolPermits, 'allows'>): ListedTool[] {
  const workers = [...pools]
    .filter(({ tier }) => tier === 'tools')
    .flatMap(({ workers }) => [...workers].map(({ id, announcement }) => ({ ...announcement, id })))
    .filter(({ accepting }) => accepting)
    .sort((a, b) => a.startedAt - b.startedAt || a.id.localeCompare(b.id));
  const tools = new Map<string, ListedTool>();
  for (const { id: worker, tools: announced } of workers) {
    for (const tool of announced.filter((each) => !each.passes && allows(each)))
      if (!tools.has(tool.name)) tools.set(tool.name, { ...tool, worker });
  }
  return [...tools.values()].sort((a, b) => a.name.localeCompare(b.name));
}

export interface ToolSources {
  workers: { pools(): Iterable<LivePool> };
  /** Lists the tools that depend on the caller's person. */
  personalTools?: { list(caller: Caller): Promise<ListedTool[]> } | undefined;
}

/**
 * Lists the tools that a caller may use, sorted by name: the shared tools, and the tools of MCP servers that the caller's person has
 * linked.
 */
export async function listAllTools({ workers, personalTools }: ToolSources, caller: Caller): Promise<ListedTool[]> {
  const sharedTools = listTools(workers.pools(), readToolPermits(caller.identity));
  const linkedTools = (await personalTools?.list(caller)) ?? [];
  return [...sharedTools, ...linkedTools].sort((a, b) => a.name.localeCompare(b.name));
}
