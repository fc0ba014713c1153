import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { EnvHttpProxyAgent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { expect, inject, it, onTestFinished } from 'vitest';
import type { AdminOptions } from '#services/rtr/commands/admin/admin-context.ts';
import { withAdmin } from '#services/rtr/commands/admin/with-admin.ts';
import { adminSettings } from '#services/rtr/config.ts';
import { loadClusterState, saveClusterState } from '#services/rtr/up/cluster-state.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { serveHttp } from '../../../helpers/servers/serve-http.ts';

async function startServer(): Promise<{ asked: IncomingMessage[]; port: number }> {
  const asked: IncomingMessage[] = [];
  const { port, server, stop } = await serveHttp((request, response) => {
    asked.push(request);
    response.end('{"data":[]}');
  });
  onTestFinished(stop);
  server.on('connect', (request, socket) => {
    asked.push(request);
    socket.destroy();
  });
  return { asked, port };
}

/** Sends a request to the router, in a folder whose cluster was started at a port. */
function ask(folder: string, environment: Record<string, string>, options: AdminOptions = {}): Promise<void> {
  const config = loadConfig(adminSettings, { RTR_PREFIX: `test-${randomUUID()}`, ...environment });
  const output = new Writable({ write: (_piece, _, done) => done() });
  const context = {
    print: () => undefined,
    hint: () => undefined,
    input: Readable.from([]),
    output,
    setExitCode: () => undefined,
  };
  return withAdmin({ config, options, folder, ...context }, ({ client }) => client.get('/users'));
}

/** Returns a folder whose cluster has the store of the tests. */
function folderOf(port: number, host = '127.0.0.1'): string {
  const folder = temporaryFolder();
  const redis = Number(new URL(inject('redisUrl')).port);
  saveClusterState(folder, { ...loadClusterState(folder), ports: { redis }, router: { host, port } });
  return folder;
}

const refusal = /^Set RTR_ADMIN_TOKEN .* rtr speaks to the router of this machine alone/;

it("rtr sends a token of the store in this folder to the address of its cluster's start, whatever HOST and PORT say", async () => {
  const [own, other] = [await startServer(), await startServer()];
  const folder = folderOf(own.port);
  const port = String(other.port);
  for (const environment of [
    { PORT: port },
    { HOST: 'localhost.example', PORT: port },
    { HOST: 'localhost.example', PORT: port, RTR_URL: `http://localhost.example:${port}` },
    { PORT: port, RTR_URL: `http://127.0.0.1:${port}` },
    { RTR_URL: `http://localhost.example:${own.port}` },
  ])
    await expect(ask(folder, environment)).rejects.toThrow(refusal);
  await expect(ask(folder, { PORT: port })).rejects.toThrow(`It was started at http://127.0.0.1:${own.port}: are`);
  expect([own.asked.length, other.asked.length]).toEqual([0, 0]);
  await ask(folder, {});
  await ask(folder, { HOST: '0.0.0.0', PORT: String(own.port) });
  await ask(folder, { PORT: port }, { router: `http://localhost:${own.port}/api/admin/v1` });
  const bearer = expect.stringMatching(/^Bearer rtradmin_/) as string;
  expect(own.asked.map(({ headers }) => headers.authorization)).toEqual([bearer, bearer, bearer]);
  expect(other.asked).toEqual([]);
});

it('rtr sends no token of a store to a router that listens only for other machines', async () => {
  const { port } = await startServer();
  await expect(ask(folderOf(port, 'localhost.example'), {})).rejects.toThrow(refusal);
});

it('rtr sends a token of a store that REDIS_URL names only to a loopback address', async () => {
  const own = await startServer();
  const folder = folderOf(9);
  const settings = { REDIS_URL: inject('redisUrl'), PORT: String(own.port) };
  for (const HOST of ['localhost.example', '127.0.0.1@localhost.example', 'localhost.'])
    await expect(ask(folder, { ...settings, HOST })).rejects.toThrow(refusal);
  expect(own.asked).toEqual([]);
  // As in the container of an ingress.
  await ask('/nowhere', { ...settings, HOST: '0.0.0.0' });
  expect(own.asked[0]?.headers.authorization).toMatch(/^Bearer rtradmin_/);
});

it('rtr sends no token of a store through a proxy', async () => {
  const [own, proxy] = [await startServer(), await startServer()];
  const before = getGlobalDispatcher();
  onTestFinished(() => setGlobalDispatcher(before));
  const agent = new EnvHttpProxyAgent({ httpProxy: `http://127.0.0.1:${proxy.port}`, noProxy: '' });
  onTestFinished(() => agent.destroy());
  setGlobalDispatcher(agent);
  await ask(folderOf(own.port), {});
  expect([own.asked.length, proxy.asked.length]).toEqual([1, 0]);
});

it('rtr sends the token of the environment only to the router of the environment', async () => {
  const [named, other] = [await startServer(), await startServer()];
  const settings = { RTR_ADMIN_TOKEN: 'rtradmin_named' };
  const withUrl = { ...settings, RTR_URL: `http://127.0.0.1:${named.port}/api/admin/v1` };
  const router = `http://127.0.0.1:${other.port}`;
  await expect(ask('/nowhere', withUrl, { router })).rejects.toThrow(`an admin token of the router at ${router}`);
  expect(other.asked).toEqual([]);
  await ask('/nowhere', withUrl, { router: `http://127.0.0.1:${named.port}` });
  await ask('/nowhere', settings, { router });
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, 'rtradmin_other');
  await ask('/nowhere', withUrl, { router, tokenFile });
  const sent = [named, other].map(({ asked }) => asked.map(({ headers }) => headers.authorization));
  expect(sent).toEqual([['Bearer rtradmin_named'], ['Bearer rtradmin_named', 'Bearer rtradmin_other']]);
});
