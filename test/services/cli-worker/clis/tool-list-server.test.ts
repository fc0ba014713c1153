import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { ToolListServer } from '#services/cli-worker/clis/tool-list-server.ts';

const inputSchema = {
  type: 'object' as const,
  properties: { n: { type: 'integer', minimum: 2 }, city: { $ref: '#/$defs/city' } },
  $defs: { city: { type: 'string' } },
  'x-kept': [1],
};

describe("the server that lists a client's tools", () => {
  let server: ToolListServer;
  beforeEach(async () => {
    server = stopAfterTest(await ToolListServer.open());
  });

  async function connect(authorization: string): Promise<Client> {
    const client = stopAfterTest(new Client({ name: 'test', version: '1' }));
    const requestInit = { headers: { authorization } };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    return client;
  }

  it('lists its present tools, with their schemas unchanged', async () => {
    const client = await connect(server.authorization);
    expect((await client.listTools()).tools).toEqual([]);
    server.tools = [{ name: 'f', description: 'A tool', inputSchema }];
    expect((await client.listTools()).tools).toEqual([{ name: 'f', description: 'A tool', inputSchema }]);
  });

  it('refuses every call of a tool', async () => {
    server.tools = [{ name: 'f', description: '', inputSchema }];
    const client = await connect(server.authorization);
    await expect(client.callTool({ name: 'f', arguments: {} })).rejects.toThrow();
  });

  it.each(['', 'Bearer wrong'])('refuses requests without its secret: "%s"', async (authorization) => {
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
    const answer = await fetch(server.url, { method: 'POST', headers: { authorization }, body: '{}' });
    expect(answer.status).toBe(401);
  });
});
