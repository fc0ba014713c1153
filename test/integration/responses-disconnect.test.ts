import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { readUsage } from '../helpers/accounts/read-usage.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { least } from '../helpers/least.ts';
import { until } from '../helpers/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'rtr-disconnect-'));
const diary = join(folder, 'diary');
let cluster: Cluster;

beforeAll(async () => {
  writeFileSync(diary, '');
  const args = [resolve('test/helpers/upstreams/mcp-test-server.ts'), diary];
  const mcp = join(folder, 'mcp.json');
  writeFileSync(mcp, JSON.stringify({ mcpServers: { pages: { command: 'node', args } } }));
  cluster = await startCluster({ ingress: withRegistry('hosted_tools: { web_search: { tool: find_pages } }') });
  await cluster.addToolsWorker({ MCP_CONFIG: mcp });
  await until(async () => {
    const headers = { authorization: `Bearer ${cluster.key}` };
    return (await (await fetch(`${cluster.url}/api/tools/v1/list`, { headers })).text()).includes('find_pages');
  });
});
afterAll(async () => {
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

const active = async (): Promise<number> =>
  ((await (await fetch(`${cluster.engineUrl}/demo/state`)).json()) as { active: number }).active;

const started = async (): Promise<number> =>
  ((await (await fetch(`${cluster.engineUrl}/demo/state`)).json()) as { started: number }).started;

/** Asks, leaves while the engine writes, and returns how many ms the engine's slot was taken after that, and the id of the request. */
async function leave(body: object): Promise<{ freedAfterMs: number; id: string }> {
  const client = new AbortController();
  const id = `left-${crypto.randomUUID()}`;
  const answer = fetch(`${cluster.url}/api/openai/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify({ model: 'demo', store: false, ...body }),
    signal: client.signal,
  }).then((response) => response.text());
  const left = expect(answer).rejects.toThrow('aborted');
  await until(async () => (await active()) === 1);
  // The engine writes for a while.
  await new Promise((done) => setTimeout(done, 400));
  const leftAt = performance.now();
  client.abort();
  await left;
  await until(async () => (await active()) === 0);
  return { freedAfterMs: performance.now() - leftAt, id };
}

async function recordOf(id: string): Promise<UsageRecord> {
  let found: UsageRecord | undefined;
  await until(async () => {
    found = (await readUsage(cluster.prefix)).find((record) => record.id === id);
    return found !== undefined;
  });
  if (!found) throw new Error('there is no record');
  return found;
}

const slowly = 'Take your time.\n[demo rate=100 tokens=4000]';
const tools = [{ type: 'web_search' }];

describe('a Responses client that leaves', () => {
  it.each([
    ['a stream', { input: slowly, stream: true }],
    ['a whole answer', { input: slowly }],
    ['a stream with hosted tools', { input: slowly, stream: true, tools }],
    ['a whole answer with hosted tools', { input: slowly, tools }],
    ['the second turn of a whole answer', { input: `[demo call web_search {"query": "a"}]\n${slowly}`, tools }],
  ])('frees the slot of the engine within a second: %s', async (_, body) => {
    const free = async (): Promise<number> => {
      const { freedAfterMs, id } = await leave(body);
      const { promptTokens, completionTokens } = await recordOf(id);
      expect(promptTokens).toBeGreaterThan(0);
      // What the engine wrote of a whole answer does not leave it before the end, unless it is asked for turns.
      const isKnown = 'stream' in body || 'tools' in body;
      if (isKnown) expect(completionTokens).toBeGreaterThan(10);
      expect(completionTokens).toBeLessThan(400);
      return freedAfterMs;
    };
    expect(await least(free, 1_000, 3)).toBeLessThan(1_000);
  });
});

describe('a client that leaves while a hosted tool runs', () => {
  const steps = 'Look.\n[demo call web_search {"query": "slow"}]\n[demo say "Done."]';
  const input = { model: 'demo', store: false, input: steps, tools };
  const messages = {
    model: 'demo',
    max_tokens: 900,
    messages: [{ role: 'user', content: steps }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  };

  it.each([
    ['a stream', '/api/openai/v1/responses', { ...input, stream: true }],
    ['a whole answer', '/api/openai/v1/responses', input],
    ['a stream of messages', '/api/anthropic/v1/messages', { ...messages, stream: true }],
    ['a whole message', '/api/anthropic/v1/messages', messages],
  ])('has it cancelled within a second, and no further turn: %s', async (_, path, body) => {
    const cancel = async (): Promise<number> => {
      writeFileSync(diary, '');
      const client = new AbortController();
      const answer = fetch(`${cluster.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: client.signal,
      }).then((response) => response.text());
      const left = expect(answer).rejects.toThrow('aborted');
      await until(() => readFileSync(diary, 'utf8').includes('searching slow'));
      const before = await started();
      const leftAt = performance.now();
      client.abort();
      await until(() => readFileSync(diary, 'utf8').includes('cancelled'));
      const cancelledAfterMs = performance.now() - leftAt;
      await left;
      // A turn would begin at once.
      await new Promise((done) => setTimeout(done, 300));
      expect(await started()).toBe(before);
      return cancelledAfterMs;
    };
    expect(await least(cancel, 1_000, 3)).toBeLessThan(1_000);
  });
});
