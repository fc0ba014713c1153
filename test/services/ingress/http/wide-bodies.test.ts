import { expect, it } from 'vitest';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';

const mebibyte = 1024 * 1024;

const cluster = useScriptedCluster({ ingressOnce: { MEMORY_BYTES: String(6 * mebibyte) } }, {});

const chat = (first: string): string =>
  JSON.stringify({
    ...chatRequest([{ write: '{"id":"a"}' }]),
    texts: [first, ...Array(1_024).fill('x'.repeat(1_000))],
  });
it('a body with a character outside of Latin-1 takes twice its memory', async () => {
  expect((await cluster.postRaw(chat('ÿ'))).status).toBe(200);
  expect((await cluster.postRaw(chat('Ā'))).status).toBe(413);
});

it('a message of MCP takes memory for its parsed copy, too', async () => {
  const headers = { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' };
  const send = async (count: number): Promise<number> => {
    const params = { _meta: { texts: Array(count).fill('x'.repeat(1_000)) } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params });
    const accept = 'application/json, text/event-stream';
    return (await fetch(`${cluster.url}/api/tools/mcp`, { method: 'POST', headers: { ...headers, accept }, body }))
      .status;
  };
  expect(await send(480)).toBe(200);
  expect(await send(560)).toBe(413);
});
