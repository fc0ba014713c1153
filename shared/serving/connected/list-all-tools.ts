import type { Caller } from '../caller.ts';
import { listTools, type ListedTool } from '../list-tools.ts';
import type { ToolComponents } from '../serve-tool.ts';
import { readToolPermits } from '../tool-permits.ts';

/**
 * Lists the tools that a caller may use, sorted by name: the shared tools, and the tools of MCP servers that the caller's person has
 * linked.
 */
export async function listAllTools(parts: ToolComponents, caller: Caller): Promise<ListedTool[]> {
  const sharedTools = listTools(parts.workers.pools(), readToolPermits(caller.identity));
  const linkedTools = (await parts.personalTools?.list(caller)) ?? [];
  return [...sharedTools, ...linkedTools].sort((a, b) => a.name.localeCompare(b.name));
}
