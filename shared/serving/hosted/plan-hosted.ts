import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { formatHostedCapability, hasToolName } from '#shared/broker/contract/announcement.ts';
import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { createToolPrefix } from '#shared/core/valid-names.ts';
import type { HostedRequest, HostedTool, RunnableTool, ServedTool } from '#shared/formats/hosted/hosted-request.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { listTools, type ListedTool } from '../list-tools.ts';
import type { ResolvedModel } from '../resolve-model.ts';
import { isToolDenied, readToolPermits } from '../tool-permits.ts';

export interface PlanParts {
  settings: Registry['hosted_tools'];
  pools: Iterable<LivePool>;
  format: string;
  identity: Pick<KeyIdentity, 'tiers' | 'tools'>;
  model: ResolvedModel;
  /** The tools of the MCP servers that the caller's person has linked. */
  linkedTools?: readonly ListedTool[];
  /** The placements for the unchanged request. */
  placements: readonly Placement[];
}

/**
 * Decides who runs the hosted tools of a request.
 * @returns the tools that the router runs; an empty list if the request is sent without its hosted tools; undefined if the request is sent
 * unchanged. An unchanged request goes to upstreams that run the tools. For a named model, it may also go to an upstream that explains why
 * it cannot run them.
 * @throws RouterError `unsupported_parameter` for `auto`, if neither an upstream nor the router can run one of the tools
 */
export function planHostedTools(hosted: HostedRequest, parts: PlanParts): RunnableTool[] | undefined {
  const { model, placements, format } = parts;
  if (placements.length > 0 && placements.every((each) => runsAll(each, hosted.tools, format))) return undefined;
  const permittedTools = [...listTools(parts.pools, readToolPermits(parts.identity)), ...(parts.linkedTools ?? [])];
  const plans = hosted.tools.map((tool) => planTool(tool, parts, permittedTools));
  const runnable = plans.filter((plan) => typeof plan !== 'string');
  if (hosted.tools.every(({ isOptional }, at) => typeof plans[at] !== 'string' || isOptional === true)) return runnable;
  if (model.kind === 'named' && hosted.tools.every(({ kind }) => kind !== 'mcp')) return undefined;
  const [refusal] = hosted.tools.flatMap((tool, at) => {
    const reason = plans[at];
    return typeof reason === 'string' ? [hosted.createRefusal(tool, reason)] : [];
  });
  throw refusal;
}

function runsAll({ pool, model }: Placement, tools: readonly HostedTool[], format: string): boolean {
  const capabilities = pool.models.find(({ id }) => id === model)?.capabilities ?? [];
  return tools.every(({ kind }) => capabilities.includes(formatHostedCapability(kind, format)));
}

/** Returns the served tools for a hosted tool, or the reason why there are none. */
function planTool(
  hosted: HostedTool,
  { settings, identity, pools }: PlanParts,
  permittedTools: readonly ListedTool[],
): RunnableTool | string {
  if (identity.tiers && !identity.tiers.includes('tools')) return 'this key may not use tools';
  switch (hosted.kind) {
    case 'web_search':
    case 'web_fetch': {
      const name = settings[hosted.kind]?.tool;
      if (name === undefined) return 'no tool is configured for it';
      if (isToolDenied(readToolPermits(identity), name, pools)) return `this key may not use the tool '${name}'`;
      const tool = permittedTools.find((each) => hasToolName(each, name));
      // If no worker with the tool is connected, the call fails, and the model gets the error.
      return {
        hosted,
        servedTools: [tool ? toServedTool(tool) : { name, nameAtServer: name, description: '', inputSchema: {} }],
      };
    }
    case 'mcp': {
      const { label = '', allowsTool } = hosted;
      const server = Object.hasOwn(settings.mcp, label) ? settings.mcp[label] : label;
      const tools = permittedTools.filter((tool) => tool.server === server).map(toServedTool);
      if (tools.length === 0)
        return `no connected MCP server is called '${label}' for this key, and addresses that a client names are not connected to`;
      return { hosted, servedTools: allowsTool ? tools.filter(({ nameAtServer }) => allowsTool(nameAtServer)) : tools };
    }
  }
}

function toServedTool({ name, givenName = name, description, inputSchema, server }: ListedTool): ServedTool {
  const prefix = server === undefined ? '' : createToolPrefix(server);
  const nameAtServer = prefix !== '' && givenName.startsWith(prefix) ? givenName.slice(prefix.length) : givenName;
  // Schemas come from JSON.
  return { name, nameAtServer, description, inputSchema: inputSchema as JsonObject };
}
