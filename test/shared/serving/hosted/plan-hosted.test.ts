import { describe, expect, it } from 'vitest';
import type { Capability, ToolInfo } from '#shared/broker/contract/announcement.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { HostedRequest, HostedTool } from '#shared/formats/hosted/hosted-request.ts';
import { emptyRegistry, registrySchema } from '#shared/registry/registry.ts';
import type { ListedTool } from '#shared/serving/list-tools.ts';
import { planHostedTools } from '#shared/serving/hosted/plan-hosted.ts';
import { resolveModel } from '#shared/serving/resolve-model.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

const find: ToolInfo = { name: 'find', description: 'Finds.', inputSchema: { type: 'object' } };
const wiki = (name: string): ToolInfo => ({ ...find, name, server: 'my wiki' });
const dotted: ToolInfo = { ...find, name: 'notes_find', givenName: 'notes.find' };
const tools = livePool(
  { tier: 'tools', pool: 't', models: [], tools: [find, wiki('read'), wiki('my-wiki_find'), dotted] },
  [{ id: 't1' }],
);

const search: HostedTool = { kind: 'web_search', title: 'web_search_1', param: 'tools.0.type' };
const mcp: HostedTool = { kind: 'mcp', title: 'mcp', param: 'tools[1]', label: 'my wiki' };
const hosted = (...each: HostedTool[]): HostedRequest => ({
  tools: each,
  createRefusal: ({ param, title }, reason) =>
    new RouterError('unsupported_parameter', `${title}: ${reason}`, { param }),
  withFunctions: () => Buffer.alloc(0),
  createAnswer: () => {
    throw new Error('not opened here');
  },
});

interface Options {
  model?: string;
  can?: Capability[];
  settings?: object;
  tiers?: ('gpu' | 'tools')[];
  tools?: string[];
  connected?: ListedTool[];
}

function plan(request: HostedRequest, { model = 'm', can = ['stream', 'tools'], ...options }: Options = {}) {
  const { settings = { web_search: { tool: 'find' } }, tiers, tools: granted, connected } = options;
  const pool = livePool({ tier: 'gpu', pool: 'g', models: [{ id: 'm', capabilities: can }] }, [{ id: 'g1' }]);
  return planHostedTools(request, {
    settings: registrySchema.parse({ hosted_tools: settings }).hosted_tools,
    pools: [pool, tools],
    format: 'f',
    identity: { tiers, tools: granted },
    model: resolveModel(model, emptyRegistry),
    placements: [{ pool, model: 'm' }],
    ...(connected && { linkedTools: connected }),
  });
}

describe('the hosted tools of a request', () => {
  it('are run by the router if the upstream does not run them', () => {
    expect(plan(hosted(search))).toEqual([
      { hosted: search, servedTools: [expect.objectContaining({ name: 'find', description: 'Finds.' })] },
    ]);
  });

  it('may be tools of a server that the person has linked', () => {
    const named = { ...mcp, label: 'tracker' };
    const connected = [{ ...find, name: 'tracker_find', server: 'tracker', worker: 't1' }];
    expect(plan(hosted(named), { connected })).toMatchObject([
      { servedTools: [{ name: 'tracker_find', nameAtServer: 'find' }] },
    ]);
    expect(() => plan(hosted(named))).toThrow("no connected MCP server is called 'tracker'");
  });

  it('may have the names of their server', () => {
    const settings = { web_search: { tool: 'notes.find' } };
    const servedTools = [{ name: 'notes_find', nameAtServer: 'notes.find', description: 'Finds.' }];
    expect(plan(hosted(search), { settings })).toMatchObject([{ servedTools }]);
  });

  it('are run for a key that may use their tools only', () => {
    const denied = () => plan(hosted(search), { model: 'auto', tools: ['my wiki/*'] });
    expect(denied).toThrow("this key may not use the tool 'find'");
    expect(plan(hosted(search), { model: 'auto', tools: ['find'] })).toHaveLength(1);
    expect(plan(hosted(mcp), { tools: ['read'] })?.[0]?.servedTools).toMatchObject([{ name: 'read' }]);
    expect(() => plan(hosted(mcp), { tools: ['find'] })).toThrow('for this key');
  });

  it('are left to an upstream that runs all of them', () => {
    expect(plan(hosted(search), { can: ['stream', 'tools', 'web_search@f'] })).toBeUndefined();
    expect(plan(hosted(search, mcp), { can: ['stream', 'tools', 'web_search@f'] })).toHaveLength(2);
  });

  it('may stand for a tool that is away: the calls fail, not the request', () => {
    const settings = { web_search: { tool: 'gone' } };
    expect(plan(hosted(search), { settings })).toMatchObject([{ servedTools: [{ name: 'gone' }] }]);
  });

  it('are left to the upstream of a named model, and refused for auto, if no tool is behind them', () => {
    for (const options of [{ settings: {} }, { tiers: ['gpu' as const] }]) {
      expect(plan(hosted(search), options)).toBeUndefined();
      const refused = /^web_search_1: (?:no tool is configured|this key may not)/;
      expect(() => plan(hosted(search), { ...options, model: 'auto' })).toThrow(refused);
    }
  });

  it('are left out if the request can do without them, and others are run', () => {
    const optional = { ...search, isOptional: true };
    expect(plan(hosted(optional), { settings: {}, model: 'auto' })).toEqual([]);
    expect(plan(hosted(optional, mcp), { settings: {} })).toMatchObject([{ hosted: mcp }]);
  });

  it('are those of the MCP server to which the operator gave the label', () => {
    const served = (request: HostedRequest, settings: object = {}) =>
      plan(request, { settings })?.[0]?.servedTools.map(({ name, nameAtServer }) => [name, nameAtServer]);
    const all = [
      ['my-wiki_find', 'find'],
      ['read', 'read'],
    ];
    expect(served(hosted(mcp))).toEqual(all);
    expect(served(hosted({ ...mcp, label: 'w' }), { mcp: { w: 'my wiki' } })).toEqual(all);
    expect(served(hosted({ ...mcp, allowsTool: (name) => name === 'find' }))).toEqual(all.slice(0, 1));
    for (const label of ['elsewhere', 'constructor'])
      expect(() => served(hosted({ ...mcp, label }))).toThrow(`no connected MCP server is called '${label}'`);
  });
});
