import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '#shared/core/load-config.ts';
import { ingressConfig } from '#services/ingress/config.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';

const app = 'https://app.example.com';
const chat = '/api/openai/v1/chat/completions';
const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };

async function ask(url: string, method: string, headers: Record<string, string>) {
  const answer = await fetch(url, { method, headers });
  await answer.text();
  return { status: answer.status, headers: Object.fromEntries<string>(answer.headers) };
}

function allowOriginOf({ headers }: { headers: Record<string, string> }): string | undefined {
  return headers['access-control-allow-origin'];
}

describe('web pages of other origins', () => {
  const cluster = useScriptedCluster();
  /** Nodes that allow two origins, and all origins. */
  let some: string;
  let open: string;
  beforeAll(async () => {
    const origins = [`${app}, http://localhost:5173`, '*'];
    const nodes = await Promise.all(origins.map((CORS_ORIGINS) => cluster.addIngress({ CORS_ORIGINS })));
    [some = '', open = ''] = nodes.map(({ url }) => url);
  });

  it('get the answer to a preflight without a key', async () => {
    for (const origin of [app, 'http://localhost:5173']) {
      for (const path of [chat, '/api/anthropic/v1/messages', '/api/tools/mcp', '/api/openai/nothing']) {
        expect(await ask(some + path, 'OPTIONS', { origin, ...preflight })).toMatchObject({
          status: 204,
          headers: {
            'access-control-allow-origin': origin,
            'access-control-allow-methods': 'GET, POST, DELETE',
            'access-control-allow-headers': 'authorization, *',
            'access-control-max-age': '7200',
            vary: 'origin',
          },
        });
      }
    }
  });

  it('may read answers and errors with all their headers, but never with cookies', async () => {
    const authorization = `Bearer ${cluster.key}`;
    const answers = [
      await ask(`${some}/api/openai/v1/models`, 'GET', { origin: app, authorization }),
      await ask(`${some}/api/openai/v1/models`, 'GET', { origin: app }),
      await ask(some + chat, 'POST', { origin: app, authorization }),
      await ask(`${some}/api/anthropic/v1/messages`, 'POST', { origin: app, 'x-api-key': 'sk-1234' }),
      await ask(`${some}/api/openai/nothing`, 'DELETE', { origin: app, authorization }),
      await ask(`${some}/api/tools/mcp`, 'POST', { origin: app }),
      await ask(some + chat, 'OPTIONS', { origin: app, authorization }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 400, 401, 404, 401, 405]);
    const shared = { 'access-control-allow-origin': app, 'access-control-expose-headers': '*', vary: 'origin' };
    for (const { headers } of answers) {
      expect(headers).toMatchObject(shared);
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('of an origin that is not named get no such header', async () => {
    const evil = 'https://evil.example';
    for (const origin of [evil, `${app}:8443`, 'http://app.example.com', `${app}.evil.example`, 'null']) {
      const asked = await ask(some + chat, 'OPTIONS', { origin, ...preflight });
      expect([asked.status, allowOriginOf(asked), asked.headers['vary']]).toEqual([401, undefined, 'origin']);
      const authorization = `Bearer ${cluster.key}`;
      const served = await ask(`${some}/api/openai/v1/models`, 'GET', { origin, authorization });
      expect([served.status, allowOriginOf(served)]).toEqual([200, undefined]);
    }
    expect((await ask(`${some}/api/tools/mcp`, 'POST', { origin: evil })).status).toBe(403);
  });

  it('may not use the console', async () => {
    for (const url of [some, open]) {
      for (const path of ['/', '/console/api/session', '/health', '/playground']) {
        expect(allowOriginOf(await ask(url + path, 'OPTIONS', { origin: app, ...preflight }))).toBeUndefined();
        expect(allowOriginOf(await ask(url + path, 'GET', { origin: app }))).toBeUndefined();
      }
    }
  });

  it('are all allowed by `*`, but for the tools as an MCP server', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      const asked = await ask(open + chat, 'OPTIONS', { origin, ...preflight });
      expect([asked.status, allowOriginOf(asked), asked.headers['vary']]).toEqual([204, '*', undefined]);
      const refused = await ask(`${open}/api/tools/mcp`, 'POST', { origin });
      expect([refused.status, allowOriginOf(refused)]).toEqual([403, '*']);
    }
  });

  it('are not allowed unless the setting names them', async () => {
    const asked = await ask(cluster.url + chat, 'OPTIONS', { origin: app, ...preflight });
    expect([asked.status, allowOriginOf(asked), asked.headers['vary']]).toEqual([401, undefined, undefined]);
  });
});

describe('CORS_ORIGINS', () => {
  const read = (given: string) => loadConfig(ingressConfig, { CORS_ORIGINS: given }).CORS_ORIGINS;

  it('takes exact origins, or `*` alone', () => {
    expect(read('https://app.example.com, http://localhost:5173,chrome-extension://abcdef')).toEqual([
      'https://app.example.com',
      'http://localhost:5173',
      'chrome-extension://abcdef',
    ]);
    expect(read('*')).toEqual(['*']);
    expect(read('')).toEqual([]);
  });

  it.each([
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/chat',
    'https://app.example.com:443',
    'https://App.example.com',
    'https://*.example.com',
    'https://me@app.example.com',
    'https://app.example.com, *',
    'localhost:5173',
    'null',
  ])('refuses %s with a sentence that names it', (wrong) => {
    expect(() => read(wrong)).toThrow(/^CORS_ORIGINS.* is not valid: each must be an origin such as/);
  });
});
