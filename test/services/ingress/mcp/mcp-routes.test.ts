import { describe, expect, it } from 'vitest';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../../helpers/until.ts';

const cluster = useScriptedCluster();

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
});
