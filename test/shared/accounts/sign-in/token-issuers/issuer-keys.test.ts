import { errors, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { fetchKeys } from '#shared/accounts/sign-in/token-issuers/fetch-keys.ts';
import { IssuerKeys, type IssuerKeysTimes } from '#shared/accounts/sign-in/token-issuers/issuer-keys.ts';
import { isSafeAddress } from '#shared/registry/token-issuers.ts';
import { startTokenIssuer } from '../../../../helpers/upstreams/start-token-issuer.ts';
import { stopAfterTest } from '../../../../helpers/stop-after-test.ts';
import { until } from '../../../../helpers/until.ts';

async function start(times: Partial<IssuerKeysTimes> = {}) {
  const server = stopAfterTest(await startTokenIssuer());
  const warnings: unknown[] = [];
  const log = { info: () => undefined, warn: (facts: unknown) => void warnings.push(facts) };
  const { issuer } = server;
  const keys = new IssuerKeys({ issuer, read: () => fetchKeys({ issuer }, isSafeAddress), log, times });
  const verify = async (token: string): Promise<string> => {
    try {
      await jwtVerify(token, (header, input) => keys.find(header, input));
      return 'verified';
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return 'no such key';
      throw error;
    }
  };
  return { server, keys, warnings, verify };
}

const outOfOrder = (_: unknown, response: { writeHead: (status: number) => { end: () => void } }): void =>
  response.writeHead(503).end();

describe('the keys of an issuer', () => {
  it('are read once for all who ask, and found by discovery', async () => {
    const { server, verify } = await start();
    const tokens = await Promise.all([1, 2, 3].map((n) => server.sign({ n })));
    expect(await Promise.all(tokens.map(verify))).toEqual(['verified', 'verified', 'verified']);
    expect(server.keysAsked()).toBe(1);
  });

  it('are read again for a key that is not known, and then not for 30 seconds', async () => {
    const { server, verify } = await start();
    expect(await verify(await server.sign())).toBe('verified');
    await server.rotate();
    expect(await verify(await server.sign())).toBe('verified');
    expect(server.keysAsked()).toBe(2);
    const unknown = await server.sign({}, { kid: 'unknown' });
    for (let use = 0; use < 20; use++) expect(await verify(unknown)).toBe('no such key');
    expect(server.keysAsked()).toBe(2);
  });

  it('are read again for a key that is not known once that time is over', async () => {
    const { server, verify } = await start({ againMs: 20 });
    const unknown = await server.sign({}, { kid: 'unknown' });
    await until(async () => (await verify(unknown)) === 'no such key' && server.keysAsked() > 3);
    expect(await verify(await server.sign())).toBe('verified');
  });

  it('are read again in the background when they are old, so that a key that was withdrawn does not count any more', async () => {
    const { server, keys, verify } = await start({ freshMs: 50, againMs: 0 });
    const token = await server.sign();
    expect(await verify(token)).toBe('verified');
    const version = keys.getVersion();
    await server.rotate('ES256');
    await until(() => keys.getVersion() !== version);
    expect(await verify(token)).toBe('no such key');
    expect(await verify(await server.sign())).toBe('verified');
  });

  it('count when they cannot be read again', async () => {
    const { server, keys, warnings, verify } = await start({ freshMs: 20, againMs: 20 });
    const token = await server.sign();
    expect(await verify(token)).toBe('verified');
    server.answerWith(outOfOrder);
    await until(() => keys.getVersion() !== undefined && warnings.length === 1);
    expect(await verify(token)).toBe('verified');
  });

  it('do not count any more when they could not be read for long', async () => {
    const { server, keys, warnings, verify } = await start({ freshMs: 20, staleMs: 100, againMs: 20 });
    const token = await server.sign();
    expect(await verify(token)).toBe('verified');
    server.answerWith(outOfOrder);
    await until(() => keys.getVersion() === undefined);
    await expect(verify(token)).rejects.toMatchObject({ code: 'store_unavailable' });
    server.answerWith(undefined);
    await until(async () => (await verify(token).catch(() => 'refused')) === 'verified');
    expect(warnings).toHaveLength(1);
  });
});

it('an issuer is refused when it redirects, answers too much, or is another one', async () => {
  const server = stopAfterTest(await startTokenIssuer());
  const { issuer } = server;
  const keys = server.jwks();
  const discovered = { issuer, jwks_uri: `${issuer}/keys` };
  const [byIssuer, byAddress] = [{ issuer }, { issuer, jwksUri: `${issuer}/keys` }];
  const cases: [typeof byIssuer, object, Record<string, string>, number, string][] = [
    [byAddress, keys, { location: `${issuer}/elsewhere` }, 302, 'answers 302'],
    [byIssuer, { ...discovered, issuer: 'https://other.example' }, {}, 200, 'is of the issuer https://other.example'],
    [byIssuer, { ...discovered, jwks_uri: 'http://keys.example/keys' }, {}, 200, 'no https address'],
    [byIssuer, { ...discovered, jwks_uri: 'file:///etc/passwd' }, {}, 200, 'no https address'],
    [byAddress, { ...keys, padding: 'x'.repeat(2 * 1024 * 1024) }, {}, 200, 'max'],
    [byAddress, { keys: 'none' }, {}, 200, 'not a JSON Web Key Set'],
  ];
  for (const [source, body, headers, status, reason] of cases) {
    server.answerWith((_, response) => void response.writeHead(status, headers).end(JSON.stringify(body)));
    await expect(fetchKeys(source, isSafeAddress)).rejects.toThrow(reason);
  }
  server.answerWith(undefined);
  expect(await fetchKeys(byIssuer, isSafeAddress)).toEqual(keys);
  expect(await fetchKeys(byAddress, isSafeAddress)).toEqual(keys);
});
