import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { get, newKey, post } from '../../helpers/clients/keyed-requests.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../helpers/until.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const diary = join(folder, 'diary');
const environment = { MCP_CONFIG: join(folder, 'mcp.json'), TOOL_TIMEOUT_MS: '5000' };

const cluster = useScriptedCluster();
beforeAll(async () => {
  writeFileSync(diary, '');
  const args = [resolve('test/helpers/upstreams/mcp-test-server.ts'), diary];
  writeFileSync(environment.MCP_CONFIG, JSON.stringify({ mcpServers: { test: { command: 'node', args } } }));
  await cluster.addToolsWorker(environment);
  await until(async () => (await toolNames()).includes('"wait"'));
});

const toolNames = async () => (await get(cluster, '/tools/v1/list')).text();

/** Returns how often the tool was called that does not end by itself. */
const calls = () => readFileSync(diary, 'utf8').match(/^waiting$/gm)?.length ?? 0;

function execute(key: string): Promise<Response> {
  const body = { tool: 'wait', input: {} };
  return post({ ...cluster, path: '/tools/v1/execute', body, headers: { 'idempotency-key': key } });
}

describe('a tool that was begun for a request with an idempotency key', () => {
  it.each([
    { how: 'takes too long', status: 504, fail: () => Promise.resolve() },
    {
      how: 'loses its worker',
      status: 502,
      fail: async () => {
        await cluster.workers.pop()?.kill();
        await cluster.addToolsWorker(environment);
      },
    },
    {
      how: 'loses its server',
      status: 502,
      fail: () => {
        const started = readFileSync(diary, 'utf8').match(/(?<=started )\d+/g);
        process.kill(Number(started?.at(-1)), 'SIGKILL');
        return Promise.resolve();
      },
    },
  ])('and $how is not called again', async ({ status, fail }) => {
    const key = newKey();
    const before = calls();
    const first = execute(key);
    await until(() => calls() === before + 1);
    await fail();
    const answer = await first;
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([status, 'false']);
    const text = await answer.text();
    await until(async () => (await toolNames()).includes('"wait"'));
    const again = await execute(key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([status, 'true']);
    expect(await again.text()).toBe(text);
    expect(calls()).toBe(before + 1);
  });
});
