import type { Caller } from '../caller.ts';
import { listTools, type ListedTool } from '../list-tools.ts';
import type { ToolParts } from '../serve-tool.ts';
import { toolPermitsOf } from '../tool-permits.ts';

/** Lists the tools that a caller may use, sorted by name: the shared ones, and those of MCP servers that the caller's person has linked. */
export async function listAllTools(parts: ToolParts, caller: Caller): Promise<ListedTool[]> {
  const shared = listTools(parts.workers.pools(), toolPermitsOf(caller.identity));
  const own = (await parts.connected?.list(caller)) ?? [];
  return [...shared, ...own].sort((a, b) => a.name.localeCompare(b.name));
}
