import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { servePages } from '#services/console/pages/serve-pages.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

const script = `${'x'.repeat(2_000)};`;

/** Serves a folder of pages. `build` writes pages into it; it is called at first unless `isBuilt` is false. */
async function serve(isBuilt = true, trustProxy = false) {
  const parent = temporaryFolder();
  const folder = join(parent, 'dist');
  const app = express();
  app.set('trust proxy', trustProxy);
  app.use(servePages(folder));
  app.use((_, response) => void response.status(404).send('of the API'));
  const url = await serveInTest(app);
  let builds = 0;
  const build = (): void => {
    builds += 1;
    const draft = join(parent, `draft${builds}`);
    mkdirSync(join(draft, 'assets'), { recursive: true });
    writeFileSync(join(draft, 'index.html'), `<meta nonce="__STYLE_NONCE__"> build ${builds}`);
    writeFileSync(join(draft, 'icon.svg'), '<svg/>');
    writeFileSync(join(draft, 'stamp'), 'secret');
    const asset = join(draft, 'assets', `main-${builds}.js`);
    writeFileSync(asset, script);
    writeFileSync(`${asset}.br`, brotliCompressSync(script));
    writeFileSync(`${asset}.gz`, gzipSync(script));
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  };
  if (isBuilt) build();
  return { url, build };
}

describe("the console's pages", () => {
  it('make browsers use only TLS, once they were requested over TLS', async () => {
    const { url } = await serve(true, true);
    const rule = async (headers: Record<string, string> = {}) =>
      (await fetch(url, { headers: { accept: 'text/html', ...headers } })).headers.get('strict-transport-security');
    expect(await rule()).toBeNull();
    expect(await rule({ 'x-forwarded-proto': 'https' })).toBe('max-age=31536000');
  });

  it('are one page for every path outside the API, with a policy that allows nothing from other hosts and a nonce per answer', async () => {
    const { url } = await serve();
    const nonces = new Set<string>();
    for (const path of ['/', '/keys', '/admin/people', '/link/abc', '/tools/some%2Ftool']) {
      const answer = await browse(url + path);
      expect(answer.status).toBe(200);
      const policy = answer.headers.get('content-security-policy') ?? '';
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? 'none';
      nonces.add(nonce);
      expect(await answer.text()).toBe(`<meta nonce="${nonce}"> build 1`);
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
      expect(policy).toContain("frame-ancestors 'none'; base-uri 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()') as string,
      });
    }
    expect(nonces.size).toBe(5);
  });

  it('have files that browsers may cache forever, compressed as the browser accepts', async () => {
    const { url } = await serve();
    for (const encoding of ['br', 'gzip', 'identity']) {
      const { headers, body } = await rawGet(`${url}/assets/main-1.js`, encoding);
      const kept = { 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' };
      expect(headers).toMatchObject({ ...kept, 'content-type': 'text/javascript; charset=utf-8' });
      expect(headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding);
      expect(Number(headers['content-length'])).toBe(body.length);
      expect(body.length < script.length).toBe(encoding !== 'identity');
    }
    expect((await fetch(`${url}/icon.svg`)).headers.get('cache-control')).toBe('no-cache');
  });

  it('leave all other paths to the API, and those that a program has mistyped', async () => {
    const { url } = await serve();
    const ofApi = ['/api/nothing', '/api', '/console/api/x', '/health', '/v1/models'];
    const files = ['/assets/gone.js', '/favicon.ico', '/stamp.txt', '/assets/main-1.js.br'];
    const asked = [...ofApi, ...files].map((path) => [path, '*/*']);
    for (const [path, accept = ''] of [...asked, ['/v1/models', 'application/json']]) {
      const answer = await fetch(`${url}${path}`, { headers: { accept } });
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, 'of the API']);
    }
  });

  it('answer only GET and HEAD', async () => {
    const { url } = await serve();
    expect((await fetch(url, { method: 'POST', headers: { accept: 'text/html' } })).status).toBe(404);
    const head = await fetch(`${url}/assets/main-1.js`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('never serve files outside their folder', async () => {
    const { url } = await serve();
    for (const path of ['/../draft.js', '/assets/..%2f..%2fetc/passwd.js', '/assets/%2e%2e/stamp.js'])
      expect((await rawGet(url + path, 'identity')).status).toBe(404);
    expect((await rawGet(`${url}/stamp`, 'identity')).body.toString()).not.toContain('secret');
  });

  it('name the build command until they are built, then appear at once, as does a new build', async () => {
    const { url, build } = await serve(false);
    const missing = await browse(url);
    expect([missing.status, await missing.text()]).toEqual([503, expect.stringContaining('npm run build')]);
    build();
    expect(await (await browse(url)).text()).toContain('build 1');
    build();
    expect(await (await browse(url)).text()).toContain('build 2');
    expect((await fetch(`${url}/assets/main-2.js`)).status).toBe(200);
  });
});

function browse(url: string): Promise<Response> {
  return fetch(url, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
}

async function rawGet(url: string, encoding: string) {
  const { origin } = new URL(url);
  const request = get(origin, { path: url.slice(origin.length), headers: { 'accept-encoding': encoding } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) };
}
