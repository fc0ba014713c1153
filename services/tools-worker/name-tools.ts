import type { Tool } from './tool.ts';

/** Where tools come from: the shipped ones, a folder, an MCP server. */
export interface ToolSource {
  /** What its tools' names are made unique with; without one they keep their names whatever happens. */
  readonly prefix: string | undefined;
  /** All that it is known to have. */
  readonly tools: readonly Tool[];
  /** Whether they can be run right now. */
  readonly available: boolean;
}

/** A tool under the name that the cluster knows it by. */
export interface NamedTool {
  name: string;
  tool: Tool;
  available: boolean;
}

/**
 * Gives every tool a name that no other has. A name that several sources use belongs to the first without a prefix; all
 * others have theirs put before it, so that it never means one server today and another tomorrow. That a source is not
 * available changes no names.
 * @returns the tools by name; those that still clash are left out and told in `dropped`
 */
export function nameTools(sources: readonly ToolSource[]): { named: Map<string, NamedTool>; dropped: string[] } {
  const named = new Map<string, NamedTool>();
  const dropped: string[] = [];
  const users = Map.groupBy(
    sources.flatMap(({ tools }) => [...new Set(tools.map(({ name }) => name))]),
    (name) => name,
  );
  for (const { prefix, tools, available } of sources) {
    for (const tool of tools) {
      const isShared = (users.get(tool.name)?.length ?? 0) > 1;
      const name = isShared && prefix !== undefined ? `${prefix}_${tool.name}` : tool.name;
      if (named.has(name)) dropped.push(name);
      else named.set(name, { name, tool, available });
    }
  }
  return { named, dropped };
}
