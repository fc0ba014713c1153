import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { hasToolName, type ToolInfo } from '#shared/broker/contract/announcement.ts';
import { contentName } from '#shared/broker/contract/server-content.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';

export interface ToolPermits {
  allows: (tool: Pick<ToolInfo, 'name' | 'givenName' | 'server'>) => boolean;
  /** Whether the key may call a tool with this name that no connected worker has now. */
  mayAllow: (called: string) => boolean;
}

/** Parses a key's list of tools: names of tools, and `<server>/*` for all tools of an MCP server. */
export function readToolPermits({ tools }: Pick<KeyIdentity, 'tools'>): ToolPermits {
  if (tools === undefined) return { allows: () => true, mayAllow: () => true };
  const entries = new Set(tools);
  const hasServers = tools.some((entry) => entry.endsWith(contentName('')));
  return {
    allows: ({ name, givenName = name, server }) =>
      entries.has(name) || entries.has(givenName) || (server !== undefined && entries.has(contentName(server))),
    mayAllow: (called) => hasServers || entries.has(called),
  };
}

/** Whether a key may not call a tool of this name, considering the tools of the connected workers. */
export function isToolDenied(permits: ToolPermits, called: string, pools: Iterable<LivePool>): boolean {
  const offered = [...pools].flatMap(({ tools }) => tools.filter((tool) => hasToolName(tool, called)));
  return offered.length > 0 ? !offered.some((tool) => permits.allows(tool)) : !permits.mayAllow(called);
}

export function toolDenied(tool: string): RouterError {
  return new RouterError('permission_denied', `This key may not use the tool \`${tool}\`.`, { param: 'tool' });
}
