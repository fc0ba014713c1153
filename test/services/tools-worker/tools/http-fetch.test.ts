import { lookup as systemLookup } from 'node:dns';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { httpFetch } from '#services/tools-worker/tools/http-fetch.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ToolOutput } from '#services/tools-worker/tool.ts';
import { until } from '../../../helpers/until.ts';
import { serveHttp, type HttpServer } from '../../../helpers/servers/serve-http.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const never = new AbortController().signal;
const png = Buffer.from('89504e470d0a1a0a', 'hex');

let asked: string[] = [];

/** Names as a hostile or careless resolver would resolve them; the page's own address stands for a public one. */
const names: Record<string, string[]> = {
  'page.test': ['127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'intranet.test': ['10.0.0.7'],
  'mixed.test': ['127.0.0.1', '10.0.0.7'],
  'six.test': ['::1'],
  'mapped.test': ['::ffff:10.0.0.7'],
  'local.test': ['127.0.0.2'],
};

const lookup = ((hostname: string, _: unknown, callback: (error: Error | null, addresses?: unknown) => void) => {
  const found = names[hostname]?.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (found) callback(null, found);
  else callback(new Error('no such name'));
}) as unknown as typeof systemLookup;

interface Page {
  type: string;
  body: string | Buffer;
  status?: number;
  headers?: Record<string, string>;
}

const pages: Record<string, Page> = {
  '/page': { type: 'text/html; charset=utf-8', body: '<p>Grüße</p>' },
  '/latin': { type: 'text/plain; charset=ISO-8859-1', body: Buffer.from('Grüße', 'latin1') },
  '/json': { type: 'application/json', body: '{"a":1}' },
  '/png': { type: 'image/png', body: png },
  '/zip': { type: 'application/zip', body: 'PK' },
  '/gzip': { type: 'text/plain', body: gzipSync('x'), headers: { 'content-encoding': 'gzip' } },
  '/large': { type: 'text/plain', body: Buffer.alloc(5 * 1024 * 1024, 'x') },
  '/missing': { type: 'text/plain', body: 'nothing here', status: 404 },
};

const server: HttpServer = useStarted(() =>
  serveHttp(
    (request, response) => {
      asked.push(`${request.headers.host} ${request.url}`);
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      const page = pages[pathname];
      if (page)
        return response.writeHead(page.status ?? 200, { 'content-type': page.type, ...page.headers }).end(page.body);
      if (pathname === '/to') return response.writeHead(302, { location: searchParams.get('url') ?? '' }).end();
      if (pathname === '/cut') {
        const headers = { 'content-type': 'text/plain', 'content-length': '100' };
        return response.writeHead(200, headers).write('x', () => response.destroy());
      }
      return pathname === '/hang' ? undefined : response.writeHead(500).end();
    },
    { host: '::' },
  ),
);
beforeEach(() => {
  asked = [];
});

function textOf({ content: [block] }: ToolOutput): string {
  return block?.type === 'text' ? block.text : '';
}

describe('fetching from the public internet', () => {
  const isAllowed = (address: string): boolean => address === '127.0.0.1';
  const tool = httpFetch({ isAllowed, lookup });
  const get = (path: string, input: object = {}, signal = never): Promise<ToolOutput> =>
    tool.run({ url: `http://page.test:${server.port}${path}`, ...input }, { signal, progress: () => undefined });

  it('returns text with its status and type', async () => {
    const output = await get('/page');
    expect(textOf(output)).toBe('<p>Grüße</p>');
    const facts = { status: 200, content_type: 'text/html', truncated: false };
    expect(output).toMatchObject({ isError: false, structuredContent: facts });
    expect(textOf(await get('/latin'))).toBe('Grüße');
    expect(textOf(await get('/json'))).toBe('{"a":1}');
  });

  it('cuts text off at the given length', async () => {
    const output = await get('/page', { max_characters: 3 });
    expect(textOf(output)).toBe('<p>');
    expect(output.structuredContent).toMatchObject({ truncated: true });
  });

  it('returns an image as an image', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: png.toString('base64') };
    expect((await get('/png')).content).toEqual([image]);
  });

  it('follows redirects and returns the final address', async () => {
    const output = await get(`/to?url=${encodeURIComponent('/json')}`);
    expect(output.structuredContent).toMatchObject({ url: `http://page.test:${server.port}/json` });
  });

  it.each([
    ['allowed', { allowed_domains: ['page.test'] }, 2],
    ['not blocked', { blocked_domains: ['other.test'] }, 2],
    ['not allowed', { allowed_domains: ['page.test/to'] }, 1],
    ['blocked', { blocked_domains: ['page.test/page'] }, 1],
    ['blocked at once', { blocked_domains: ['page.test'] }, 0],
  ])('checks the domain of every redirect before it connects: %s', async (_, input, requests) => {
    const hop = `http://page.test:${server.port}/page`;
    const output = await get(`/to?url=${encodeURIComponent(hop)}`, input);
    expect(asked).toHaveLength(requests);
    expect(output.isError).toBe(requests < 2);
    if (requests === 2) return expect(output.structuredContent).toMatchObject({ url: hop, status: 200 });
    expect(textOf(output)).toBe('It was not fetched: its address is not of an allowed domain.');
    // The refused address shows who requested the page from which the redirect came.
    const refused = requests === 1 ? hop : `http://page.test:${server.port}/to?url=${encodeURIComponent(hop)}`;
    expect(output.structuredContent).toEqual({ url: refused });
  });

  it.each([
    ['/zip', 'it is no text but application/zip'],
    ['/gzip', 'it is compressed (gzip), which was not asked for'],
    ['/large', 'it is too large'],
    ['/cut', 'its answer broke off'],
    ['/to?url=file:///etc/passwd', 'only http and https are fetched'],
  ])('does not fetch %s and returns the reason', async (path, reason) => {
    const output = await get(path);
    expect(output.isError).toBe(true);
    expect(textOf(output)).toBe(`It was not fetched: ${reason}.`);
  });

  it('returns the page of an error', async () => {
    const output = await get('/missing');
    expect(output).toMatchObject({ isError: true, structuredContent: { status: 404 } });
    expect(textOf(output)).toContain('status 404');
    expect(textOf(output)).toContain('nothing here');
  });

  it('ends with the call', async () => {
    const call = new AbortController();
    const fetching = get('/hang', {}, call.signal);
    await until(() => expect(asked.length).toBe(1));
    call.abort(new Error('the call is over'));
    await expect(fetching).rejects.toThrow('the call is over');
  });

  it.each([
    ['an address inside', 'http://10.0.0.7/'],
    ['the loopback', 'http://127.0.0.2/'],
    ['the loopback of IPv6', 'http://[::1]/'],
    ['IPv4 in IPv6', 'http://[::ffff:a00:7]/'],
    ['a decimal host', 'http://167772167/'],
    ['a name of an address inside', 'http://intranet.test/'],
    ['a name of which one address is inside', 'http://mixed.test/'],
  ])('follows no redirect to %s', async (_, url) => {
    const target = new URL(url);
    target.port = String(server.port);
    const output = await get(`/to?url=${encodeURIComponent(target.href)}`);
    expect(textOf(output)).toBe('It was not fetched: its address is not public.');
    expect(asked).toHaveLength(1);
  });
});

describe('an address that is not public, for the tool that fetches pages,', () => {
  const run = (input: JsonObject) => httpFetch({ lookup }).run(input, { signal: never, progress: () => undefined });

  const loopback =
    '127.0.0.1 127.1 localhost. 0.0.0.0 0 2130706433 0x7f000001 0177.0.0.1 017700000001 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1]';
  const inside =
    '[64:ff9b::127.0.0.1] [fe80::1] [fd00::1] 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 169.254.169.254 2852039166 224.0.0.1 255.255.255.255';
  const resolved = 'metadata.test intranet.test six.test mapped.test local.test';

  it.each(`${loopback} ${inside} ${resolved}`.split(' '))('is not fetched: %s', async (host) => {
    names['localhost.'] = ['127.0.0.1'];
    const output = await run({ url: `http://${host}:${server.port}/page` });
    expect(output.isError).toBe(true);
    expect(textOf(output)).toBe('It was not fetched: its address is not public.');
    expect(asked).toEqual([]);
  });

  const strange = 'file:///etc/passwd ftp://page.test/ gopher://page.test/ http://user:pass@page.test/ page.test';
  it.each(strange.split(' '))('is refused: %s', async (url) => {
    await expect(run({ url })).rejects.toMatchObject({ code: 'invalid_request', param: 'input.url' });
  });
});
