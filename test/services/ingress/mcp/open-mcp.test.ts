import { describe, expect, it, onTestFinished } from 'vitest';
import { openRaw, rawHead, readRawAnswer, type RawConnection } from '../../../helpers/clients/raw-http.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../../helpers/until.ts';

const cluster = useScriptedCluster();

const path = '/api/tools/mcp';

const listen = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
    notifications: { toolsListChanged: true },
  },
});
const newest = [
  'accept: application/json, text/event-stream',
  'content-type: application/json',
  'mcp-protocol-version: 2026-07-28',
  'mcp-method: subscriptions/listen',
  `content-length: ${listen.length}`,
];

describe('the MCP endpoint', () => {
  it.each(['PUT', 'PATCH', 'DELETE', 'GET'])('refuses %s without its body', async (method) => {
    const { socket, text } = await openRaw(cluster.url);
    const sent = ['content-type: application/json', 'content-length: 4194000'];
    socket.write(`${rawHead(cluster.key, sent, path, method)}{`);
    await until(() => expect(text()).toMatch(/\r\n\r\n\{.*\}/));
    const { status, headers, body } = readRawAnswer(text());
    expect([status, headers['allow']]).toEqual([405, 'GET, POST']);
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'method_not_allowed' } } });
    socket.destroy();
  });

  it.each([
    ['of older revisions', 'GET', ['accept: text/event-stream'], ''],
    ['of the newest revision', 'POST', newest, listen],
  ])(
    'has a place for a client %s that waits for notices, if another key has them all',
    async (_, method, sent, body) => {
      const begin = async (key: string): Promise<RawConnection> => {
        const raw = await openRaw(cluster.url);
        onTestFinished(() => void raw.socket.destroy());
        raw.socket.write(rawHead(key, sent, path, method) + body);
        return raw;
      };
      const listens = ({ text }: RawConnection): boolean => /^HTTP\/1\.1 200 [^]*event-stream/.test(text());
      const first = await begin(cluster.key);
      const all = [first];
      await until(() => listens(first));
      while (all.length < 1_024) all.push(await begin(cluster.key));
      await until(() => expect(all.filter(listens)).toHaveLength(1_024));
      const other = await begin((await cluster.addKey({})).raw);
      await until(() => listens(other));
      await until(() => first.socket.destroyed);
      expect(all.filter(({ socket }) => socket.destroyed)).toHaveLength(1);
    },
  );
});
