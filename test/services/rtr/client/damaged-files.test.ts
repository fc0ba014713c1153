import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { clientHome, signedInFiles } from '../../../helpers/rtr/client-home.ts';

const router = 'https://llm.example.com';
const { tokensFile, lists } = signedInFiles(router);

/** Expects the same report of one command for each damage of a file, and of the other commands for the first damage. */
async function expectReported(file: string, damages: readonly string[], address: string, files = {}): Promise<void> {
  const others = [['logout'], ['env', 'claude'], ['token', '--router', router]];
  const cases = [...damages.map((text) => [['token'], text] as const), ...others.map((words) => [words, damages[0]])];
  for (const [words, text] of cases as [string[], string][]) {
    const { home, run } = clientHome({ ...files, [file]: text });
    const err = `${join(home, file)} is damaged. Replace it by signing in again: rtr login ${address}\n`;
    expect(await run(words), `${words.join(' ')}: ${text}`).toEqual({ code: 1, out: '', err });
  }
}

it('a damaged list of routers is reported, with the remedy', async () => {
  const damages = ['{"routers": {"https://llm.example.com": null}}', '{"default": "ht', '', '{}', 'null'];
  await expectReported('rtr/routers.json', damages, '<address of the router>');
});

it('damaged tokens are reported, with the remedy, and nothing of them is shown', async () => {
  const damages = ['{"accessToken": "secret"}', '{"router": "https://llm.exa', '', 'null', '[]'];
  await expectReported(tokensFile, damages, router, lists);
});

it('a router without TLS at an address with https is reported in one sentence', async () => {
  const server = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, err } = await clientHome().run(['login', url]);
  const reason = 'what answers there speaks no TLS, or no version of it that Node speaks';
  expect([code, err]).toEqual([1, `${url} cannot be reached (${reason}).\n`]);
});
