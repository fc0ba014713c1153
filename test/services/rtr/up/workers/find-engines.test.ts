import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { findLocalEngines, listNamedEngines } from '#services/rtr/up/workers/find-engines.ts';
import { serveInTest } from '../../../../helpers/servers/serve-http.ts';
import { until } from '../../../../helpers/until.ts';

describe('the search for local engines', () => {
  it('finds a server that lists its models', async () => {
    const port = await serve((request, response) => {
      response.end(request.url === '/v1/models' ? '{"object":"list","data":[{"id":"qwen3","object":"model"}]}' : '');
    });
    const engine = { origin: 'default port of vLLM', url: `http://127.0.0.1:${port}` };
    // An engine has half a second to answer.
    await until(async () => expect(await look(port)).toEqual([engine]));
  });

  it.each<[string, RequestListener]>([
    ['a web server that answers everything with a page', (_, response) => response.end('<html>hello</html>')],
    ['a web server that answers everything with JSON', (_, response) => response.end('{"status":"ok","data":[]}')],
    ['a server that requires a key', (_, response) => response.writeHead(401).end('{"object":"list","data":[]}')],
    ['a server that redirects', (_, response) => response.writeHead(302, { location: '/login' }).end()],
    ['a server that never answers', () => {}],
  ])('ignores %s', async (_, listener) => {
    const port = await serve(listener);
    expect(await look(port)).toEqual([]);
  });

  it('leaves out the given ports', async () => {
    const port = await serve((_, response) => response.end('{"object":"list","data":[]}'));
    expect(await findLocalEngines([port], [{ name: 'vLLM', port }])).toEqual([]);
  });

  it('returns named engines without trying them, and without a trailing /v1', () => {
    const named = listNamedEngines(['http://10.0.0.5:8000/v1/', 'http://gpu:1234']);
    expect(named.map(({ url }) => url)).toEqual(['http://10.0.0.5:8000', 'http://gpu:1234']);
  });
});

function look(port: number) {
  return findLocalEngines([], [{ name: 'vLLM', port }]);
}

async function serve(listener: RequestListener): Promise<number> {
  return Number(new URL(await serveInTest(listener)).port);
}
