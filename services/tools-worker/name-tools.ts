import type { ServerContent } from './mcp/server-content.ts';
import type { Tool } from './tool.ts';
import { assignValidNames } from '#shared/core/valid-names.ts';

/** A source of tools: the shipped ones, a folder, or an MCP server. */
export interface ToolSource {
  /** Prefix for names that other sources use too; without one its tools keep their names. */
  readonly prefix: string | undefined;
  /** The MCP server of its tools, as the operator names it. */
  readonly server?: string | undefined;
  readonly tools: readonly Tool[];
  /** Content of an MCP server besides tools; undefined for none, and before the first connection. */
  readonly content?: ServerContent | undefined;
  readonly available: boolean;
}

/** A tool under its name in the cluster. */
export interface NamedTool {
  /** Valid in all formats. */
  name: string;
  /** The server's own name, by which the tool can also be called, if that is not valid in all formats; undefined if it is. */
  givenName: string | undefined;
  tool: Tool;
  server: string | undefined;
  available: boolean;
}

/**
 * Gives every tool a unique name. A name of several sources stays with the first source without a prefix; the other sources put their
 * prefix before it, so that a name always means the same server. Availability does not change names. Then each name is made valid, see
 * `assignValidNames`.
 * @returns the tools by name, and in `dropped` the names that still clash, each of which belongs to the first tool
 */
export function nameTools(sources: readonly ToolSource[]): { named: Map<string, NamedTool>; dropped: string[] } {
  const given = new Map<string, Pick<NamedTool, 'tool' | 'server' | 'available'>>();
  const dropped: string[] = [];
  const sourcesByName = Map.groupBy(
    sources.flatMap(({ tools }) => [...new Set(tools.map(({ name }) => name))]),
    (name) => name,
  );
  for (const { prefix, server, tools, available } of sources) {
    for (const tool of tools) {
      const isShared = (sourcesByName.get(tool.name)?.length ?? 0) > 1;
      const name = isShared && prefix !== undefined ? `${prefix}_${tool.name}` : tool.name;
      if (given.has(name)) dropped.push(name);
      else given.set(name, { tool, server, available });
    }
  }
  const valid = assignValidNames([...given.keys()]);
  const named = [...given].map(([givenName, facts]): NamedTool => {
    const name = valid.get(givenName) ?? givenName;
    return { ...facts, name, givenName: name === givenName ? undefined : givenName };
  });
  return { named: new Map(named.map((each) => [each.name, each])), dropped };
}
