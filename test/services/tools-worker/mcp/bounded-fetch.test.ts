import { describe, expect, it } from 'vitest';
import { createBoundedFetch } from '#services/tools-worker/mcp/bounded-fetch.ts';
import { serveHttp } from '../../../helpers/servers/serve-http.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const server = useStarted(() =>
  serveHttp((request, response) => {
    const [, kind, pieces = '', bytes = ''] = (request.url ?? '').split('/');
    response.writeHead(200, { 'content-type': kind === 'events' ? 'text/event-stream' : 'application/json' });
    for (let piece = 0; piece < Number(pieces); piece += 1) {
      response.write(`data: ${'x'.repeat(Number(bytes))}${kind === 'events' ? '\r\n\r\n' : ''}`);
    }
    response.end();
  }),
);

const get = async (path: string): Promise<number> =>
  (await (await createBoundedFetch(100_000)(`${server.url}${path}`)).text()).length;

describe('a bounded fetch', () => {
  it('passes on an answer within the limit', async () => {
    expect(await get('/whole/1/90000')).toBe(90_006);
  });

  it('fails an answer above the limit', async () => {
    await expect(get('/whole/2/60000')).rejects.toThrow('more than 100000 bytes');
  });

  it('passes on an event stream as long as each event is within the limit', async () => {
    expect(await get('/events/20/50000')).toBe(20 * 50_010);
    await expect(get('/events/1/200000')).rejects.toThrow('more than 100000 bytes');
  });
});
