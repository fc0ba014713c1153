import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ConfigError } from '#shared/core/load-config.ts';
import { readMcpConfig, readMcpServers, readOauthServers } from '#shared/registry/mcp-servers.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';

const folder = useFolder();
const path = join(folder, 'mcp.json');

function read(text: string, environment = {}) {
  writeFileSync(path, text);
  return readMcpServers(readMcpConfig(path), environment);
}

const servers = (mcpServers: object, environment = {}) => read(JSON.stringify({ mcpServers }), environment);

it('the file of MCP servers names local servers and HTTP servers, without those that are disabled', () => {
  const config = servers({
    files: { command: 'npx', args: ['-y', 'files', '/data'], env: { A: 'b' }, cwd: '/tmp' },
    docs: { type: 'http', url: 'https://docs.test/mcp', headers: { authorization: 'Bearer x' } },
    plain: { url: 'http://127.0.0.1:3000/mcp' },
    off: { command: 'a', disabled: true },
  });
  expect(config.refused).toEqual([]);
  expect(config.servers).toMatchObject([
    { name: 'files', kind: 'stdio', server: { args: ['-y', 'files', '/data'], env: { A: 'b' }, cwd: '/tmp' } },
    { name: 'docs', kind: 'http', server: { headers: { authorization: 'Bearer x' } } },
    { name: 'plain', kind: 'http', server: { headers: {} } },
  ]);
});

it('the file of MCP servers takes variables from the environment', () => {
  const a = { command: 'a', args: ['${X:-y}'], env: { TOKEN: '${TOKEN}' } };
  const { servers: found } = servers({ a }, { TOKEN: 'secret' });
  expect(found).toMatchObject([{ server: { args: ['y'], env: { TOKEN: 'secret' } } }]);
});

it.each([
  { entry: { command: 'a', env: { TOKEN: '${NOT_SET}' } }, reason: 'these variables are not set: NOT_SET' },
  { entry: { command: '' }, reason: 'command' },
  { entry: { command: 'a', args: 'b' }, reason: 'args' },
  { entry: { type: 'sse', url: 'https://docs.test/sse' }, reason: 'type' },
  { entry: { url: 'docs' }, reason: 'url' },
  { entry: {}, reason: 'neither a command nor a url' },
])('the file of MCP servers leaves out $entry with the reason', ({ entry, reason }) => {
  const config = servers({ bad: entry, good: { command: 'a' } });
  expect(config.servers.map(({ name }) => name)).toEqual(['good']);
  expect(config.refused).toMatchObject([{ name: 'bad', reason: expect.stringContaining(reason) as string }]);
});

it.each(['{', '[]', '{}', '{"mcpServers": []}'])(
  'the file of MCP servers is refused as a whole when it is %s',
  (text) => {
    expect(() => read(text)).toThrow(ConfigError);
    expect(() => read(text)).toThrow(`MCP_CONFIG=${path}`);
  },
);

it('the file of MCP servers is refused when it does not exist', () => {
  expect(() => readMcpConfig(join(folder, 'none.json'))).toThrow('ENOENT');
});

const url = 'https://notes.test/mcp';
const notes = { url, auth: 'oauth', oauth: { clientId: 'a', clientSecret: '${SECRET}', scopes: ['read'] } };

it("servers with account links are read by the ingress with their client, and by a worker without the client's variables", () => {
  const written = { notes, plain: { url }, off: { ...notes, disabled: true }, bare: { url, auth: 'oauth' } };
  const client = { clientId: 'a', clientSecret: 's', scopes: ['read'] };
  const linked = [
    { name: 'notes', client },
    { name: 'bare', client: {} },
  ].map((each) => ({ ...each, url }));
  expect(readOauthServers(written, { SECRET: 's' })).toEqual({ servers: linked, refused: [] });
  const { servers: found, refused } = readMcpServers(written, {});
  expect(refused).toEqual([]);
  expect(found.map(({ name, kind }) => `${name} ${kind}`)).toEqual(['notes oauth', 'plain http', 'bare oauth']);
  expect(JSON.stringify(found)).not.toContain('SECRET');
});

it.each([
  { entry: notes, reason: 'these variables are not set: SECRET' },
  { entry: { ...notes, oauth: { client_id: 'a' } }, reason: 'oauth' },
  { entry: { ...notes, oauth: { scopes: ['a b'] } }, reason: 'oauth.scopes.0' },
  { entry: { ...notes, oauth: {}, url: 'notes' }, reason: 'url' },
])('servers with account links are refused with the reason: $reason', ({ entry, reason }) => {
  const { servers: found, refused } = readOauthServers({ notes: entry }, {});
  expect(found).toEqual([]);
  expect(refused).toMatchObject([{ name: 'notes', reason: expect.stringContaining(reason) as string }]);
});

it('servers with account links have no other authentication than oauth, and are not allowed in a file that only workers read', () => {
  expect(readMcpServers({ notes: { url, auth: 'basic' } }, {}).refused).toMatchObject([{ name: 'notes' }]);
  expect(() => servers({ notes })).toThrow(/notes: .*ROUTER_CONFIG/);
});
