import type { ListedTool } from '#shared/serving/list-tools.ts';
import { joinLists, maxListBytes, type SizedEntry } from './content-entries.ts';

/** Bytes of each tool as JSON, by its input schema, which is the same object as long as the tool is the same. */
const bytesBySchema = new WeakMap<object, number>();

/**
 * Leaves out tools that would make the list too large for an answer: the last tools of the servers with the largest lists, so that no
 * server takes the room of others. The tools of a worker without a server count as the list of a server.
 */
export function fitToolList(tools: readonly ListedTool[]): readonly ListedTool[] {
  let bytes = 0;
  for (const tool of tools) bytes += countBytes(tool);
  if (bytes <= maxListBytes) return tools;
  const lists = new Map<string, SizedEntry<ListedTool>[]>();
  for (const tool of tools) {
    const owner = JSON.stringify(tool.server === undefined ? { worker: tool.worker } : { server: tool.server });
    const list = lists.get(owner) ?? [];
    list.push({ entry: tool, bytes: countBytes(tool) });
    lists.set(owner, list);
  }
  const fittingTools = new Set(joinLists([...lists.values()]).map(({ entry }) => entry));
  return tools.filter((tool) => fittingTools.has(tool));
}

function countBytes(tool: ListedTool): number {
  const knownBytes = bytesBySchema.get(tool.inputSchema);
  if (knownBytes !== undefined) return knownBytes;
  const bytes = Buffer.byteLength(JSON.stringify(tool));
  bytesBySchema.set(tool.inputSchema, bytes);
  return bytes;
}
