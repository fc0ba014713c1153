// @module-tag codex
import { createServer, request as send, type Server } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCli } from '../helpers/clis/install-clis.ts';
import { runAgent } from '../helpers/clis/run-agent.ts';
import { shareCluster } from '../helpers/cluster/share-cluster.ts';
import type { Cluster } from '../helpers/cluster/start-cluster.ts';

const codex = findCli('codex') ?? '';

interface Asked {
  input: { type: string; encrypted_content?: string }[];
}

let cluster: Cluster;
let folder: string;
/** Between Codex and the ingress. */
let proxy: Server;
const asked: Asked[] = [];

/** Has the engine end the turn once Codex goes on with a compacted conversation: it would call tools that a summary mentions. */
function ended(body: Buffer): Buffer {
  const request = JSON.parse(body.toString()) as Asked;
  asked.push(request);
  if (!request.input.some(({ type }) => type === 'compaction')) return body;
  const message = { type: 'message', role: 'user', content: '[demo say "It is done."]' };
  return Buffer.from(JSON.stringify({ ...request, input: [...request.input, message] }));
}

beforeAll(async () => {
  cluster = await shareCluster();
  folder = mkdtempSync(join(tmpdir(), 'rtr-agent-'));
  proxy = createServer((request, response) => {
    void buffer(request).then((given) => {
      const { method = 'GET', url = '/', headers: sent } = request;
      const body = method === 'POST' ? ended(given) : given;
      const headers = { ...sent, 'content-length': String(body.length) };
      const onward = send(`${cluster.url}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.end(body);
    });
  });
  proxy.on('upgrade', (_, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\n\r\n'));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('Codex with its own provider', () => {
  it('compacts a long turn by a trigger, and goes on with the item that it got', async () => {
    const { port } = proxy.address() as AddressInfo;
    const settings = [
      `openai_base_url="http://127.0.0.1:${port}/api/openai/v1"`,
      'model_auto_compact_token_limit=1000',
      'analytics.enabled=false',
    ];
    const args = ['exec', '--json', '--skip-git-repo-check', '-m', 'demo', ...settings.flatMap((each) => ['-c', each])];
    const prompt = '[demo call exec_command {"cmd":"echo hi"}]';
    const run = await runAgent(codex, [...args, prompt], folder, { CODEX_API_KEY: cluster.key });
    expect(run.stdout.slice(-2_000), run.stderr.slice(-2_000)).toContain('"turn.completed"');
    expect(run.stdout).toContain('It is done.');
    const types = asked.map(({ input }) => input.map(({ type }) => type));
    const at = types.findIndex((each) => each.at(-1) === 'compaction_trigger');
    expect(at, JSON.stringify(types)).toBeGreaterThan(0);
    const next = asked[at + 1]?.input.filter(({ type }) => type === 'compaction');
    expect(next).toHaveLength(1);
    expect(next?.[0]?.encrypted_content?.length).toBeGreaterThan(100);
  });
});
