import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createBoundedFetch } from '#services/tools-worker/mcp/bounded-fetch.ts';
import { serveHttp, serveInTest } from '../../../helpers/servers/serve-http.ts';
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

/** Gets an event stream whose pieces arrive one by one. */
async function getSplit(pieces: string[]): Promise<number> {
  const url = await serveInTest(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) {
      response.write(piece);
      await setTimeout(10);
    }
    response.end();
  });
  return (await (await createBoundedFetch(100_000)(url)).text()).length;
}

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

  it.each([
    ['\n', '\n'],
    ['\r\n', '\r\n'],
    ['\r\n\r', '\n'],
    ['\r', '\r'],
    ['\r\r', ''],
  ])('finds the end of an event that arrives as %j and %j', async (first, second) => {
    const line = 'data: x';
    const pieces = [line.repeat(5_000) + first, second + line.repeat(5_000) + first, second + line.repeat(5_000)];
    expect(await getSplit(pieces)).toBe(pieces.join('').length);
  });

  it('does not take the end of a line for the end of an event', async () => {
    const line = 'data: x'.repeat(5_000);
    await expect(getSplit([`${line}\r`, `\n${line}\r\n`, line])).rejects.toThrow('more than 100000 bytes');
  });
});
