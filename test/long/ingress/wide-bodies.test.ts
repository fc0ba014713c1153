import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';

const mebibyte = 1024 * 1024;
/** Returns the environment of a process with so little memory. Half of it is for V8's heap, as Node decides in a container. */
function limitMemory(megabytes: number): Record<string, string> {
  const flags = `--max-semi-space-size=32 --max-old-space-size=${megabytes / 2}`;
  return { MEMORY_BYTES: String(megabytes * mebibyte), NODE_OPTIONS: flags };
}
const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

const folder = useFolder();

/** Many short texts, each of which has a character outside of Latin-1. */
function createTexts(bytes: number): string[] {
  return Array.from({ length: Math.floor(bytes / 1_013) }, (_, at) =>
    `Ā${String(at).padStart(8, '0')}`.padEnd(1_008, 'x'),
  );
}

/** Returns the most megabytes of memory that a process has used so far. */
function readPeak({ child }: ServiceProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

it.for<[string, string, number, (name: string, texts: string[]) => object]>([
  [
    'to the MCP endpoint',
    '/api/tools/mcp',
    30 * mebibyte,
    (name, texts) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: { message: 'hi', texts } },
    }),
  ],
  ['to a tool', '/api/tools/v1/execute', 30 * mebibyte, (tool, texts) => ({ tool, input: { message: 'hi', texts } })],
])(
  'eight keys with large texts outside of Latin-1 %s end neither ingress nor worker',
  { tags: ['linux'] },
  async ([, path, bytes, createBody]) => {
    const isMcp = path.endsWith('mcp');
    const cluster = await startCluster({ workers: 0, ...(isMcp && { ingress: limitMemory(1024) }) });
    onTestFinished(() => cluster.stop());
    const config = join(folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { everything: { command: 'node', args: [everything] } } }));
    const worker = await cluster.addToolsWorker({ ...limitMemory(512), MCP_CONFIG: config });
    const keys = await Promise.all(Array.from({ length: 8 }, () => cluster.addKey({})));
    const post = (key: string, body: string): Promise<Response> => {
      const accept = 'application/json, text/event-stream';
      const version = { 'mcp-protocol-version': '2025-06-18' };
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept, ...version };
      return fetch(cluster.url + path, { method: 'POST', headers, body });
    };
    const body = JSON.stringify(createBody('echo', createTexts(bytes)));
    await Promise.all(keys.map(async ({ raw }) => (await post(raw, body)).text()));
    for (const { child } of [cluster.ingress, worker]) expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    if (isMcp) expect(readPeak(cluster.ingress)).toBeLessThan(1024);
    expect(readPeak(worker)).toBeLessThan(512);
    const small = await post(cluster.key, JSON.stringify(createBody('echo', [])));
    expect(await small.text()).toContain('Echo: hi');
  },
);
