import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { expect, it } from 'vitest';
import { serveDocs } from '#services/console/pages/serve-docs.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

const text = '<p>Keys</p>'.repeat(200);

async function serve(isBuilt = true) {
  const folder = join(temporaryFolder(), 'dist');
  if (isBuilt) {
    for (const part of ['assets', 'decisions']) mkdirSync(join(folder, part), { recursive: true });
    const files = { 'index.html': 'first', 'accounts.html': text, 'decisions/index.html': 'list', '404.html': 'none' };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    writeFileSync(join(folder, 'accounts.html.gz'), gzipSync(text));
    writeFileSync(join(folder, 'assets', 'app.a1.js'), 'start()');
    writeFileSync(join(folder, 'stamp'), 'secret');
  }
  const app = express().use(serveDocs(folder));
  app.use((_, response) => void response.status(404).send('of the console'));
  return serveInTest(app);
}

const read = async (address: string) => {
  const answer = await fetch(address);
  return { status: answer.status, text: await answer.text(), headers: Object.fromEntries(answer.headers) };
};

it('the documentation is served without extensions, from its first page on', async () => {
  const url = await serve();
  for (const [path, content] of [
    ['/docs', 'first'],
    ['/docs/', 'first'],
    ['/docs/accounts', text],
    ['/docs/accounts.html', text],
    ['/docs/decisions/', 'list'],
  ] as const)
    expect(await read(url + path)).toMatchObject({ status: 200, text: content });
  expect((await fetch(`${url}/docs`, { redirect: 'manual' })).headers.get('location')).toBe('/docs/');
});

it('the documentation has a policy without an exception, and loads nothing from other hosts', async () => {
  const { headers } = await read(`${await serve()}/docs/accounts`);
  expect(headers['content-encoding']).toBe('gzip');
  const policy = headers['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; ");
  expect(policy).not.toMatch(/unsafe|nonce|\*|https?:/);
});

it('files of the documentation whose names change with their content are kept by browsers, pages are not', async () => {
  const url = await serve();
  expect((await read(`${url}/docs/assets/app.a1.js`)).headers['cache-control']).toContain('immutable');
  expect((await read(`${url}/docs/accounts`)).headers['cache-control']).toBe('no-cache');
});

it('a path without a page of the documentation is a 404 of its own, and no other path is served', async () => {
  const url = await serve();
  for (const path of ['/docs/nothing', '/docs/stamp', '/docs/..%2fdist%2fstamp', '/docs/assets/app.a2.js'])
    expect(await read(url + path)).toMatchObject({ status: 404, text: 'none' });
  for (const path of ['/', '/docsx', '/DOCS', '/keys'])
    expect(await read(url + path)).toMatchObject({ status: 404, text: 'of the console' });
  expect(await (await fetch(`${url}/docs/accounts`, { method: 'POST' })).text()).toBe('of the console');
});

it('without a built documentation, the answer names the command that builds it', async () => {
  expect(await read(`${await serve(false)}/docs/accounts`)).toMatchObject({
    status: 404,
    text: expect.stringContaining('npm run docs:site') as string,
  });
});
