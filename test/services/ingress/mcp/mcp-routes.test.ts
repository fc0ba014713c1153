import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../../helpers/until.ts';

const cluster = useScriptedCluster();

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

describe('the MCP endpoint', () => {
  it.each(['PUT', 'PATCH', 'DELETE', 'GET'])('refuses %s without its body', async (method) => {
    const { socket, text } = await openRaw(cluster.url);
    socket.write(
      `${method} /api/tools/mcp HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${cluster.key}\r\n` +
        `content-type: application/json\r\ncontent-length: 4194000\r\n\r\n{`,
    );
    await until(() => expect(text()).toMatch(/\r\n\r\n\{.*\}/));
    const { status, headers, body } = readRawAnswer(text());
    expect([status, headers['allow']]).toEqual([405, 'GET, POST']);
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'method_not_allowed' } } });
    socket.destroy();
  });

  it.each([
    ['of older revisions', `GET /api/tools/mcp HTTP/1.1\r\naccept: text/event-stream\r\n`, ''],
    [
      'of the newest revision',
      'POST /api/tools/mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\n' +
        `mcp-protocol-version: 2026-07-28\r\nmcp-method: subscriptions/listen\r\ncontent-length: ${listen.length}\r\n`,
      listen,
    ],
  ])('has a place for a client %s that waits for notices, when another key has taken all', async (_, head, body) => {
    const sockets: Socket[] = [];
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    const begin = async (key: string): Promise<{ text: () => string; socket: Socket }> => {
      const raw = await openRaw(cluster.url);
      sockets.push(raw.socket);
      raw.socket.write(`${head}host: x\r\nauthorization: Bearer ${key}\r\n\r\n${body}`);
      return raw;
    };
    const listens = (text: string): boolean => /^HTTP\/1\.1 200 [^]*event-stream/.test(text);
    const all: Awaited<ReturnType<typeof begin>>[] = [];
    for (let at = 0; at < 1_024; at += 1) {
      all.push(await begin(cluster.key));
      if (at === 0) await until(() => listens(all[0]?.text() ?? ''));
    }
    await until(() => expect(all.filter(({ text }) => listens(text()))).toHaveLength(1_024));
    const { raw: other } = await cluster.addKey({});
    const { text } = await begin(other);
    await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 [^]*event-stream/));
    await until(() => expect(all[0]?.socket.destroyed).toBe(true));
    expect(all.filter(({ socket }) => socket.destroyed)).toHaveLength(1);
  });
});
