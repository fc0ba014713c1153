import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { beginDevice, discover } from '#services/rtr/client/lib/router-api.mjs';

/** A server that says of itself what a router would not. */
async function startHostile(answerOf: (origin: string) => object): Promise<string> {
  const server = createServer((_, response) => {
    response.end(JSON.stringify(answerOf(origin)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return origin;
}

const endpoints = (origin: string) => ({
  issuer: origin,
  device_authorization_endpoint: `${origin}/oauth/device_authorization`,
  token_endpoint: `${origin}/oauth/token`,
});

it('a router whose endpoints or issuer are at another origin is not signed in to', async () => {
  for (const name of ['issuer', 'device_authorization_endpoint', 'token_endpoint']) {
    for (const other of ['https://evil.example/x', '@evil.example/x', '0.evil.example/x']) {
      const url = await startHostile((origin) => ({
        ...endpoints(origin),
        [name]: other.startsWith('https') ? other : `${origin}${other}`,
      }));
      await expect(discover(url)).rejects.toThrow('says that its address is another one');
    }
  }
});

it('a token is sent to no API at another origin', async () => {
  const url = await startHostile((origin) => ({
    ...endpoints(origin),
    model_router_apis: {
      openai: `${origin}@evil.example/api`,
      anthropic: `${origin}0.evil.example/api`,
      own: `${origin}/api`,
    },
  }));
  expect((await discover(url)).apis).toEqual({ own: `${url}/api` });
});

it('what a router sends moves no cursor, and cannot make a program poll without a pause', async () => {
  const url = await startHostile((origin) => ({
    device_code: 'x',
    user_code: '\u001B[2JABCD-EFGH',
    verification_uri: `${origin}/\u001B]0;title\u0007device`,
    interval: 0,
    expires_in: 1e9,
  }));
  const found = { device: `${url}/d`, token: `${url}/t`, revocation: undefined, apis: {} };
  expect(await beginDevice(found, 'a test')).toMatchObject({
    userCode: '[2JABCD-EFGH',
    page: `${url}/]0;titledevice`,
    intervalMs: 5_000,
    expiresMs: 3_600_000,
  });
});
