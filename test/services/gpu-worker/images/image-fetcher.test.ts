import { beforeEach, describe, expect, it } from 'vitest';
import { createImageFetcher } from '#services/gpu-worker/images/image-fetcher.ts';
import { until } from '../../../helpers/until.ts';
import { serveHttp, type HttpServer } from '../../../helpers/servers/serve-http.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const never = new AbortController().signal;

let asked: string[] = [];

const answers: Record<string, [status: number, headers: Record<string, string>, body?: string | Buffer]> = {
  '/png': [200, { 'content-type': 'image/png; charset=binary' }, png],
  '/html': [200, { 'content-type': 'text/html' }, '<html>'],
  '/large': [200, { 'content-type': 'image/png' }, Buffer.alloc(100_000)],
  '/redirect': [302, { location: '/png' }],
  '/round': [302, { location: '/round' }],
  '/to-file': [302, { location: 'file:///etc/passwd' }],
};

const server: HttpServer = useStarted(() =>
  serveHttp(
    (request, response) => {
      const { url = '' } = request;
      asked.push(url);
      if (url === '/hang') return undefined;
      if (url === '/honest-large')
        return response.writeHead(200, { 'content-type': 'image/png', 'content-length': '100000' }).flushHeaders();
      if (url === '/to-loopback')
        return response.writeHead(302, { location: `http://127.0.0.2:${server.port}/png` }).end();
      const [status, headers, body] = answers[url] ?? [404, {}];
      return response.writeHead(status, headers).end(body);
    },
    { host: '0.0.0.0' },
  ),
);
beforeEach(() => {
  asked = [];
});

const url = (path: string, host = '127.0.0.1'): URL => new URL(`http://${host}:${server.port}${path}`);

describe('an image fetcher that may connect to loopback', () => {
  const fetchImage = createImageFetcher((address) => address === '127.0.0.1');

  it('returns the image as a data URL', async () => {
    const image = `data:image/png;base64,${png.toString('base64')}`;
    expect(await fetchImage(url('/png'), 20_000, never)).toBe(image);
    expect(await fetchImage(url('/redirect'), 20_000, never)).toBe(image);
  });

  it.each([
    { path: '/html', reason: /not a JPEG/ },
    { path: '/large', reason: /too large/ },
    { path: '/honest-large', reason: /too large/ },
    { path: '/missing', reason: /status 404/ },
    { path: '/round', reason: /too often/ },
    { path: '/to-file', reason: /only http/ },
    { path: '/to-loopback', reason: /not public/ },
  ])('refuses $path', async ({ path, reason }) => {
    await expect(fetchImage(url(path), 20_000, never)).rejects.toThrow(reason);
  });

  it('stops when the job is aborted', async () => {
    const client = new AbortController();
    const fetching = fetchImage(url('/hang'), 20_000, client.signal);
    await until(() => expect(asked).toEqual(['/hang']));
    client.abort(new Error('the client is gone'));
    await expect(fetching).rejects.toThrow('the client is gone');
  });
});

describe('an image fetcher for public addresses', () => {
  const fetchImage = createImageFetcher();

  const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0'];

  it.each(hosts)('does not connect to %s', async (host) => {
    await expect(fetchImage(url('/png', host), 20_000, never)).rejects.toThrow('its address is not public');
    expect(asked).toEqual([]);
  });
});
