import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { hasToolName, type ToolInfo } from '#shared/broker/contract/announcement.ts';
import { contentName } from '#shared/broker/contract/server-content.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { RouterError } from '#shared/core/errors.ts';

export interface ToolPermits {
  allows: (tool: Pick<ToolInfo, 'name' | 'givenName' | 'server'>) => boolean;
  /** Whether the key may call a tool with this name if no connected worker has the tool. */
  mayAllow: (calledName: string) => boolean;
}

/** Parses a key's list of tools: names of tools, and `<server>/*` for all tools of an MCP server. */
export function readToolPermits({ tools }: Pick<KeyIdentity, 'tools'>): ToolPermits {
  if (tools === undefined) return { allows: () => true, mayAllow: () => true };
  const entries = new Set(tools);
  const hasServers = tools.some((entry) => entry.endsWith(contentName('')));
  return {
    allows: ({ name, givenName = name, server }) =>
      entries.has(name) || entries.has(givenName) || (server !== undefined && entries.has(contentName(server))),
    mayAllow: (calledName) => hasServers || entries.has(calledName),
  };
}

/** Whether a key may not call a tool with this name. Considers the tools of the connected workers that have this name. */
export function isToolDenied(permits: ToolPermits, calledName: string, pools: Iterable<LivePool>): boolean {
  const sameNameTools = [...pools].flatMap(({ tools }) => tools.filter((tool) => hasToolName(tool, calledName)));
  return sameNameTools.length > 0 ? !sameNameTools.some((tool) => permits.allows(tool)) : !permits.mayAllow(calledName);
}

export function createToolDeniedError(tool: string): RouterError {
  return new RouterError('permission_denied', `This key may not use the tool \`${tool}\`.`, { param: 'tool' });
}
