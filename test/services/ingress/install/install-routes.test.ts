import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import express from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInstallRoutes } from '#services/ingress/install/install-routes.ts';
import { version } from '#shared/core/version.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { makeCertificates } from '../../../helpers/servers/make-certificates.ts';
import { serveHttp } from '../../../helpers/servers/serve-http.ts';
import { passTime } from '../../../helpers/pass-time.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const content = Buffer.from('a package');

interface ServeOptions {
  publicUrl?: string;
  readPackage?: () => Promise<Buffer>;
  tls?: { cert: string; key: Buffer };
}

/** Serves the routes until the end of the test, and returns their address. */
async function serve({ publicUrl, readPackage = () => Promise.resolve(content), tls }: ServeOptions = {}) {
  const app = express()
    .disable('etag')
    .use(createInstallRoutes({ publicUrl, readPackage, log: silentLog }));
  const { url, stop } = await serveHttp(app, tls ? { tls } : {});
  onTestFinished(stop);
  return url;
}

/** A certificate that no authority has signed. */
function makeOwnCertificate() {
  const folder = temporaryFolder();
  return { cert: makeCertificates(folder).ca, key: readFileSync(join(folder, 'ca.key')) };
}

async function runScript(script: string, env: Record<string, string>): Promise<string> {
  return (await promisify(execFile)('/bin/sh', ['-c', script], { env })).stdout;
}

/** Programs named `npm` and `node` that print what they are called with, in a folder that is the whole PATH besides the system's. */
function stubPrograms(nodeStatus: 0 | 1) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'node'), `#!/bin/sh\n[ "$1" = --version ] && echo v18.0.0\nexit ${nodeStatus}\n`, {
    mode: 0o755,
  });
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  return { HOME: folder, PATH: `${folder}:/usr/bin:/bin` };
}

describe('the package that a router serves', () => {
  it.each(['/rtr.tgz', `/rtr-${version}.tgz`])('is at %s, and is not sent again to who has it', async (path) => {
    const url = await serve();
    const answer = await fetch(`${url}${path}`);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(content);
    expect(answer.headers.get('content-type')).toBe('application/gzip');
    const again = await fetch(`${url}${path}`, { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });

  it('reaches a client whole, however large it is', async () => {
    const large = Buffer.alloc(3_000_001, 'package');
    const url = await serve({ readPackage: () => Promise.resolve(large) });
    expect(Buffer.from(await (await fetch(`${url}/rtr.tgz`)).arrayBuffer()).equals(large)).toBe(true);
  });

  it('is read once for all who request it, however many they are', async () => {
    let reads = 0;
    const readPackage = () => Promise.resolve(Buffer.from(String(++reads)));
    const url = await serve({ readPackage });
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/rtr.tgz`)));
    expect(new Set(await Promise.all(answers.map((answer) => answer.text())))).toEqual(new Set(['1']));
  });

  it('is missing with a sentence when it cannot be read, and is read again after a minute', async () => {
    let isBroken = true;
    const readPackage = () => (isBroken ? Promise.reject(new Error('no compiler')) : Promise.resolve(content));
    const url = await serve({ readPackage });
    const answer = await fetch(`${url}/rtr.tgz`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('cannot build its package');
    isBroken = false;
    // Each try may take the machine for seconds.
    expect((await fetch(`${url}/rtr.tgz`)).status).toBe(404);
    passTime(61_000);
    expect((await fetch(`${url}/rtr.tgz`)).status).toBe(200);
  });
});

describe('the script that installs', { tags: ['openssl'] }, () => {
  it('runs rtr from the package of the router, with its arguments', async () => {
    const env = stubPrograms(0);
    const words = await runScript(`curl -fsS ${await serve()}/install | sh -s -- join 'a b'`, env);
    const file = join(env.HOME, '.cache/model-router/rtr.tgz');
    expect(words.trim().split('\n')).toEqual(['exec', '--yes', `--package=file:${file}`, '--', 'rtr', 'join', 'a b']);
    expect(readFileSync(file)).toEqual(content);
    expect(readdirSync(dirname(file))).toEqual(['rtr.tgz']);
  });

  it('names the Node that it needs', async () => {
    const run = runScript(`curl -fsS ${await serve()}/install | sh`, stubPrograms(1));
    await expect(run).rejects.toThrow('Node 20 or newer is required; this is Node v18.0.0.');
  });

  it('trusts only the key of its router if no authority has signed the certificate', async () => {
    const [router, stranger] = [await serve({ tls: makeOwnCertificate() }), await serve({ tls: makeOwnCertificate() })];
    const script = (address: string) => `curl -fsSk ${router}/install | sed "s,${router},${address}," | sh -s -- up`;
    expect(await runScript(script(router), stubPrograms(0))).toContain('rtr\nup\n');
    await expect(runScript(script(stranger), stubPrograms(0))).rejects.toThrow(
      `The package cannot be loaded from ${stranger}.`,
    );
  });

  it('names the address of the request, or the public one, quoted for the shell', async () => {
    const own = await serve();
    const script = await (await fetch(`${own}/install`)).text();
    expect(script).toContain(`router='${own}'`);
    const named = await serve({ publicUrl: "https://llm.example/it's" });
    expect(await (await fetch(`${named}/install`)).text()).toContain(String.raw`router='https://llm.example/it'\''s'`);
  });
});
