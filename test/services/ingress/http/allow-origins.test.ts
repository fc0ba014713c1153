import { describe, expect, it } from 'vitest';
import { loadConfig } from '#shared/core/load-config.ts';
import { ingressConfig } from '#services/ingress/config.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { useStarted } from '../../../helpers/use-started.ts';

const app = 'https://app.example.com';
const chat = '/api/openai/v1/chat/completions';
const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };

async function ask(url: string, method: string, sent: Record<string, string>) {
  const answer = await fetch(url, { method, headers: sent });
  await answer.text();
  const headers = Object.fromEntries<string>(answer.headers);
  return { status: answer.status, headers, allowed: headers['access-control-allow-origin'], vary: headers['vary'] };
}

describe('web pages of other origins', () => {
  const cluster = useScriptedCluster();
  /** Nodes that allow two origins, and all origins. */
  const some = useStarted(() => cluster.addIngress({ CORS_ORIGINS: `${app}, http://localhost:5173` }));
  const open = useStarted(() => cluster.addIngress({ CORS_ORIGINS: '*' }));

  it('get the answer to a preflight without a key', async () => {
    for (const origin of [app, 'http://localhost:5173']) {
      for (const path of [chat, '/api/anthropic/v1/messages', '/api/tools/mcp', '/api/openai/nothing']) {
        expect(await ask(some.url + path, 'OPTIONS', { origin, ...preflight })).toMatchObject({
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
    const shared = { 'access-control-allow-origin': app, 'access-control-expose-headers': '*', vary: 'origin' };
    for (const [status, method, path, sent] of [
      [200, 'GET', '/api/openai/v1/models', { authorization }],
      [401, 'GET', '/api/openai/v1/models', {}],
      [400, 'POST', chat, { authorization }],
      [401, 'POST', '/api/anthropic/v1/messages', { 'x-api-key': 'sk-1234' }],
      [404, 'DELETE', '/api/openai/nothing', { authorization }],
      [401, 'POST', '/api/tools/mcp', {}],
      [405, 'OPTIONS', chat, { authorization }],
    ] as const) {
      const answer = await ask(some.url + path, method, { origin: app, ...sent });
      expect(answer).toMatchObject({ status, headers: shared });
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('of an origin that is not named get no such header', async () => {
    const evil = 'https://evil.example';
    for (const origin of [evil, `${app}:8443`, 'http://app.example.com', `${app}.evil.example`, 'null']) {
      const asked = await ask(some.url + chat, 'OPTIONS', { origin, ...preflight });
      expect(asked).toMatchObject({ status: 401, allowed: undefined, vary: 'origin' });
      const authorization = `Bearer ${cluster.key}`;
      const served = await ask(`${some.url}/api/openai/v1/models`, 'GET', { origin, authorization });
      expect(served).toMatchObject({ status: 200, allowed: undefined });
    }
    expect((await ask(`${some.url}/api/tools/mcp`, 'POST', { origin: evil })).status).toBe(403);
  });

  it('may not use the console', async () => {
    for (const { url } of [some, open]) {
      for (const path of ['/', '/console/api/session', '/health', '/playground']) {
        expect((await ask(url + path, 'OPTIONS', { origin: app, ...preflight })).allowed).toBeUndefined();
        expect((await ask(url + path, 'GET', { origin: app })).allowed).toBeUndefined();
      }
    }
  });

  it('are all allowed by `*`, but for the tools as an MCP server', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      const asked = await ask(open.url + chat, 'OPTIONS', { origin, ...preflight });
      expect(asked).toMatchObject({ status: 204, allowed: '*', vary: undefined });
      expect(await ask(`${open.url}/api/tools/mcp`, 'POST', { origin })).toMatchObject({ status: 403, allowed: '*' });
    }
  });

  it('are not allowed unless the setting names them', async () => {
    const asked = await ask(cluster.url + chat, 'OPTIONS', { origin: app, ...preflight });
    expect(asked).toMatchObject({ status: 401, allowed: undefined, vary: undefined });
  });
});

describe('CORS_ORIGINS', () => {
  const read = (given: string) => loadConfig(ingressConfig, { CORS_ORIGINS: given }).CORS_ORIGINS;

  it('takes exact origins, and `*`', () => {
    const three = ['https://app.example.com', 'http://localhost:5173', 'chrome-extension://abcdef'];
    expect(read('https://app.example.com, http://localhost:5173,chrome-extension://abcdef')).toEqual(three);
    expect([read('*'), read(''), read('https://app.example.com, *')]).toEqual([
      ['*'],
      [],
      ['https://app.example.com', '*'],
    ]);
  });

  it.each([
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/chat',
    'https://app.example.com:443',
    'https://App.example.com',
    'https://*.example.com',
    'https://me@app.example.com',
    'localhost:5173',
    'null',
  ])('refuses %s with a sentence that names it', (wrong) => {
    expect(() => read(wrong)).toThrow(/^CORS_ORIGINS.* is not valid: each must be an origin such as/);
  });
});
