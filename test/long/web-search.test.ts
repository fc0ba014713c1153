// @module-tag claude
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { findCli } from '../helpers/clis/install-clis.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';

const claude = findCli('claude') ?? '';
const folder = useFolder();
const diary = join(folder, 'diary');

let withoutSearch: { url: string };

const ingress = withRegistry('hosted_tools: { web_search: { tool: find_pages } }');
const cluster = useStarted(() => startCluster({ ingress }));
beforeAll(async () => {
  writeFileSync(diary, '');
  const args = [resolve('test/helpers/upstreams/mcp-test-server.ts'), diary];
  const mcp = join(folder, 'mcp.json');
  writeFileSync(mcp, JSON.stringify({ mcpServers: { pages: { command: 'node', args } } }));
  withoutSearch = await cluster.addIngress({ ROUTER_CONFIG: '' });
  await cluster.addToolsWorker({ MCP_CONFIG: mcp });
  await until(async () => {
    const headers = { authorization: `Bearer ${cluster.key}` };
    return (await (await fetch(`${cluster.url}/api/tools/v1/list`, { headers })).text()).includes('find_pages');
  });
});

/** Runs Claude Code with its WebSearch alone, on the demo engine. */
async function ask(url: string, prompt: string): Promise<{ result: string }> {
  const flags = '--output-format json --model demo --tools WebSearch --allowedTools WebSearch'.split(' ');
  const environment = {
    ANTHROPIC_BASE_URL: `${url}/api/anthropic`,
    ANTHROPIC_AUTH_TOKEN: cluster.key,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
  };
  const { stdout, stderr } = await runAgent(claude, ['-p', prompt, ...flags], folder, environment);
  return JSON.parse(stdout || stderr) as { result: string };
}

/** A prompt that has the engine call WebSearch, whose own request, with this query, then calls `web_search`. */
function searching(query: string): string {
  const inner = `${query}\n[demo call web_search ${JSON.stringify({ query })}]`;
  return `Please look it up.\n[demo call WebSearch ${JSON.stringify({ query: inner })}]`;
}

describe('WebSearch of Claude Code on an engine that cannot search', () => {
  it('searches with the tool of the router, and the agent reads what it finds', async () => {
    const answer = await ask(cluster.url, searching('umbrellas of badgers'));
    expect(answer).toMatchObject({ is_error: false, num_turns: 2 });
    expect(answer.result).toContain('https://pages.example/a');
    expect(answer.result).toContain('umbrellas of badgers at other.example');
    expect(readFileSync(diary, 'utf8')).toContain('searching umbrellas of badgers');
  });

  it('goes on when the search fails', async () => {
    const answer = await ask(cluster.url, searching('broken umbrellas'));
    expect(answer).toMatchObject({ is_error: false, num_turns: 2 });
    expect(answer.result).toContain('Web search error: unavailable');
  });

  it('goes on where the router has no tool that searches', async () => {
    const answer = await ask(withoutSearch.url, searching('umbrellas'));
    expect(answer).toMatchObject({ is_error: false, num_turns: 2 });
    expect(answer.result).toContain('web_search_20250305');
  });
});
