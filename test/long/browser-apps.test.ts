// @module-tag chromium
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Releases } from '#shared/core/release.ts';
import type { Seen } from '../helpers/clients/browser-app.ts';
import { shareConsole } from '../helpers/console/console-with-ada.ts';
import { shareBrowser } from '../helpers/console/open-browser.ts';
import { serveHttp } from '../helpers/servers/serve-http.ts';

describe('a web page of another origin, in Chromium', () => {
  const releases = new Releases();
  const here = shareConsole();
  /** Two ingress nodes that allow one origin. */
  let url: string;
  let otherUrl: string;
  /** A page whose origin is allowed, and one whose origin is not. */
  let allowed: Page;
  let other: Page;

  beforeAll(async () => {
    const script = await bundleApp();
    const [allowedOrigin, otherOrigin] = [await servePage(script, releases), await servePage(script, releases)];
    const settings = { CORS_ORIGINS: allowedOrigin, IDEMPOTENCY_GRACE_MS: '20000' };
    const nodes = await Promise.all([here.cluster.addIngress(settings), here.cluster.addIngress(settings)]);
    [url = '', otherUrl = ''] = nodes.map((node) => node.url);
    const browser = await shareBrowser();
    const context = await browser.newContext();
    releases.add('window', () => context.close());
    [allowed, other] = [await context.newPage(), await context.newPage()];
    await Promise.all([allowed.goto(allowedOrigin), other.goto(otherOrigin)]);
  }, 120_000);
  afterAll(() => releases.releaseAll());

  const sdks = ['streamChat', 'streamMessage'];

  it.each(sdks)('streams an answer with an official SDK and reads its headers (%s)', async (call) => {
    const { raw } = await here.cluster.addKey({ limits: { requestsPerMinute: 100 } });
    const seen = await run(allowed, call, url, raw);
    expect(seen).toMatchObject({
      status: 200,
      headers: {
        'x-request-id': expect.stringMatching(/^req_/) as string,
        'request-id': expect.stringMatching(/^req_/) as string,
        'x-rtr-tier': 'gpu',
      },
    });
    if (seen === 'unreadable') return;
    expect(seen.pieces.length).toBeGreaterThan(3);
    expect(Object.keys(seen.headers)).toContainEqual(expect.stringMatching(/ratelimit.*remaining/));
  });

  it('goes on with a stream whose connection was cut, at another ingress, without a lost or doubled character', async () => {
    const content = 'Tell a story.\n[demo tokens=60 rate=60]';
    const [whole, resumed] = await Promise.all(
      ['0', '5'].map((cuts) => run(allowed, 'resumeChat', `${url},${otherUrl}`, here.cluster.key, content, cuts)),
    );
    if (whole === undefined || whole === 'unreadable' || resumed === undefined || resumed === 'unreadable')
      throw new Error('the page cannot read the answer');
    expect(whole.pieces.join('').length).toBeGreaterThan(200);
    expect(resumed.pieces).toEqual(whole.pieces);
    expect(whole.headers).not.toHaveProperty('idempotent-replayed');
    expect(resumed.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'original-request': expect.stringMatching(/^req_/) as string,
    });
  });

  it.each(sdks)('reads errors and when to try again (%s)', async (call) => {
    expect(await run(allowed, call, url, 'sk-1234')).toMatchObject({
      status: 401,
      headers: { 'x-request-id': expect.stringMatching(/^req_/) as string, 'x-should-retry': 'false' },
    });
    const { raw } = await here.cluster.addKey({ limits: { requestsPerMinute: 1 } });
    await run(allowed, call, url, raw);
    expect(await run(allowed, call, url, raw)).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) as string },
    });
  });

  it.each(sdks)('reads nothing if its origin is not named (%s)', async (call) => {
    expect(await run(other, call, url, here.cluster.key)).toBe('unreadable');
  });

  it('reads nothing that it asks for with cookies, and nothing of the console', async () => {
    expect(await run(allowed, 'fetchWithCookies', url, here.cluster.key)).toBe('unreadable');
    expect(await run(allowed, 'fetchConsole', url)).toBe('unreadable');
  });
});

/** Calls a function of the page's script. */
async function run(page: Page, call: string, ...args: string[]): Promise<Seen> {
  return page.evaluate<Seen>(`app.${call}(...${JSON.stringify(args)})`);
}

/** The page's script, whose exports are the global `app`. */
async function bundleApp(): Promise<string> {
  const entry = join(import.meta.dirname, '..', 'helpers', 'clients', 'browser-app.ts');
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { lib: { entry, name: 'app', formats: ['iife'] }, write: false, minify: false },
  });
  const [output] = Array.isArray(built) ? built : [];
  const [chunk] = output?.output ?? [];
  if (chunk === undefined) throw new Error('the bundle has no script');
  return chunk.code;
}

/** Serves a page with a script. Returns its origin, which is another site than the cluster's. */
async function servePage(script: string, releases: Releases): Promise<string> {
  const { port, stop } = await serveHttp((request, response) => {
    const isScript = request.url === '/app.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
    response.end(isScript ? script : '<!doctype html><script src="/app.js"></script>');
  });
  releases.add('page', stop);
  return `http://localhost:${port}`;
}
