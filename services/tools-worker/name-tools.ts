import type { ServerContent } from './mcp/server-content.ts';
import type { Tool } from './tool.ts';
import { assignValidNames } from '#shared/core/valid-names.ts';

/** A source of tools: the shipped tools, a folder, or an MCP server. */
export interface ToolSource {
  /** Prefix for tool names that other sources also have. If undefined, the tools of this source keep their names. */
  readonly prefix: string | undefined;
  /** The name that the operator gave the MCP server of these tools. */
  readonly server?: string | undefined;
  readonly tools: readonly Tool[];
  /** Content of an MCP server besides tools. Undefined if there is none, and before the first connection. */
  readonly content?: ServerContent | undefined;
  readonly available: boolean;
}

/** A tool and its name in the cluster. */
export interface NamedTool {
  /** A name that is valid in all formats. */
  name: string;
  /** The name, with any prefix, before it was made valid; undefined if it was valid already. Calls may use this name, too. */
  givenName: string | undefined;
  tool: Tool;
  server: string | undefined;
  available: boolean;
}

/**
 * Gives every tool a unique name. If several sources have tools with the same name, the first source without a prefix keeps the name. The
 * other sources put their prefixes before the name, so that a name always means the same server. Names do not depend on which sources are
 * available. Finally, each name is made valid; see `assignValidNames`.
 * @returns the tools by name, and in `dropped` the names that several tools still share. Only the first tool of such a name is in the map
 */
export function nameTools(sources: readonly ToolSource[]): { toolsByName: Map<string, NamedTool>; dropped: string[] } {
  const factsByName = new Map<string, Pick<NamedTool, 'tool' | 'server' | 'available'>>();
  const dropped: string[] = [];
  const sourcesByName = Map.groupBy(
    sources.flatMap(({ tools }) => [...new Set(tools.map(({ name }) => name))]),
    (name) => name,
  );
  for (const { prefix, server, tools, available } of sources) {
    for (const tool of tools) {
      const isShared = (sourcesByName.get(tool.name)?.length ?? 0) > 1;
      const name = isShared && prefix !== undefined ? `${prefix}_${tool.name}` : tool.name;
      if (factsByName.has(name)) dropped.push(name);
      else factsByName.set(name, { tool, server, available });
    }
  }
  const validNames = assignValidNames([...factsByName.keys()]);
  const namedTools = [...factsByName].map(([givenName, facts]): NamedTool => {
    const name = validNames.get(givenName) ?? givenName;
    return { ...facts, name, givenName: name === givenName ? undefined : givenName };
  });
  return { toolsByName: new Map(namedTools.map((each) => [each.name, each])), dropped };
}
