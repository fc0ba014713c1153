import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { hostNode, runCommand } from '../../../helpers/processes/run-command.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

const program = join(import.meta.dirname, '../../../../services/rtr/client/rtr.mjs');
const router = 'https://llm.example.com';
const name = createHash('sha256').update(router).digest('hex').slice(0, 16);
const index = JSON.stringify({ default: router, routers: { [router]: { store: 'file' } } });

/** Runs the client of a person with these files. */
async function run(words: readonly string[], files: Record<string, string>) {
  const home = temporaryFolder();
  const folder = join(home, 'rtr');
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const command = runCommand(hostNode(), [program, ...words], {
    cwd: home,
    env: { HOME: home, XDG_CONFIG_HOME: home },
  });
  return { folder, code: await command.ended, out: command.out, err: command.err };
}

/** Returns each way in which the file is damaged for one command, and one way for the others. */
const runs = (texts: readonly string[], other: string) => [
  ...texts.map((text) => ({ words: ['token'], text })),
  ...[['logout'], ['env', 'claude'], ['token', '--router', router]].map((words) => ({ words, text: other })),
];

it('a damaged list of routers is reported, with the remedy', async () => {
  const withoutStore = '{"routers": {"https://llm.example.com": null}}';
  const all = runs(['{"default": "ht', '', '{}', 'null', withoutStore], withoutStore);
  for (const { words, text } of all) {
    const { folder, code, out, err } = await run(words, { 'routers.json': text });
    expect([code, out]).toEqual([1, '']);
    const remedy = 'Sign in again, which replaces it: rtr login <address of the router>';
    expect(err).toBe(`${join(folder, 'routers.json')} is damaged. ${remedy}\n`);
  }
});

it('damaged tokens are reported, with the remedy, and nothing of them is shown', async () => {
  const all = runs(['{"router": "https://llm.exa', '', 'null', '[]'], '{"accessToken": "secret"}');
  for (const { words, text } of all) {
    const files = { 'routers.json': index, [`${name}.tokens.json`]: text };
    const { folder, code, out, err } = await run(words, files);
    expect([code, out]).toEqual([1, '']);
    const remedy = `Sign in again, which replaces it: rtr login ${router}`;
    expect(err).toBe(`${join(folder, `${name}.tokens.json`)} is damaged. ${remedy}\n`);
  }
});

it('a router without TLS at an address with https is reported in one sentence', async () => {
  const server = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, err } = await run(['login', url], {});
  const reason = 'what answers there speaks no TLS, or no version of it that Node speaks';
  expect([code, err]).toEqual([1, `${url} cannot be reached (${reason}).\n`]);
});
