import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';
import { expect, it, onTestFinished, vi } from 'vitest';
import { IssuedTokenVerifier } from '#shared/accounts/sign-in/token-issuers/issued-token-verifier.ts';
import { silentLog as log } from '../../../../helpers/silent-log.ts';

const issuer = 'https://id.example.com';
const inAnHour = (): number => Math.floor(Date.now() / 1_000) + 3_600;

/** A verifier of tokens that one key has signed. */
async function start(further: JWK[] = [], { trustsEmail = false } = {}) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'good', alg: 'ES256' }, ...further] };
  const account = { name: 'all', class: 'normal', limits: {} } as const;
  const rules = [
    { match: [['email', ['*']]], person: 'email' },
    { match: [['sub', ['*']]], serviceAccount: account },
  ] as const;
  const issuers = [{ issuer, audiences: ['router'], algorithms: ['ES256', 'RS256'], trustsEmail, jwks, rules }];
  const none = () => Promise.resolve(undefined);
  const nobody = { find: none, findByEmail: none, findPerson: none, noteEmail: none, list: () => Promise.resolve([]) };
  const parties = { users: nobody, teams: nobody, externals: nobody, store: { assertIntact: () => undefined } };
  const fetchKeys = () => Promise.resolve(jwks);
  const verifier = new IssuedTokenVerifier({ ...parties, issuers: () => issuers, fetchKeys, log });
  const sign = (claims: Record<string, unknown> = {}, kid = 'good') =>
    new SignJWT({ iss: issuer, aud: 'router', sub: 'me', exp: inAnHour(), ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(privateKey);
  return { verifier, sign };
}

/** A token that jose would not sign. */
function signRsa(key: KeyObject, kid: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part({ alg: 'RS256', kid })}.${part({ iss: issuer, aud: 'router', sub: 'me', exp: inAnHour() })}`;
  return `${body}.${createSign('sha256').update(body).sign(key, 'base64url')}`;
}

const refused = (reason: string) => ({ code: 'invalid_api_key', message: expect.stringContaining(reason) as string });
const verified = async (verifier: IssuedTokenVerifier, token: string) => verifier.verify(token);

it('a token of another issuer is verified from memory once it is known, and refused when it ends', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { verifier, sign } = await start();
  const token = await sign();
  expect(await verifier.verify(token)).toMatchObject({ id: 'service:all', name: 'all', kind: 'router' });
  expect(verifier.verify(token)).not.toBeInstanceOf(Promise);
  vi.advanceTimersByTime(3_600_000 + 58_000);
  expect(verifier.verify(token)).not.toBeInstanceOf(Promise);
  vi.advanceTimersByTime(3_000);
  await expect(verified(verifier, token)).rejects.toMatchObject(refused('expired'));
});

it('a token of another issuer has a verified address only if it says so, or says nothing and its issuer is trusted', async () => {
  const outcomes: string[] = [];
  for (const trustsEmail of [false, true]) {
    const { verifier, sign } = await start([], { trustsEmail });
    for (const email_verified of [true, undefined, false, 'true']) {
      const token = await sign({ email: 'ada@example.com', email_verified });
      const refusal = String(await verified(verifier, token).catch((error: unknown) => error));
      outcomes.push(/No account has the address/.test(refusal) ? 'verified' : refusal.slice(0, 70));
    }
  }
  const not = 'RouterError: The token is valid, but has no verified e-mail address. A';
  expect(outcomes).toEqual(['verified', not, not, 'verified', 'verified', 'verified', not, 'verified']);
});

it('a token of another issuer is refused without a subject, and when it is valid only from more than a minute in the future', async () => {
  const { verifier, sign } = await start();
  const now = Math.floor(Date.now() / 1_000);
  await expect(verified(verifier, await sign({ sub: '' }))).rejects.toMatchObject(refused('`sub` is empty'));
  await expect(verified(verifier, await sign({ sub: undefined }))).rejects.toMatchObject(refused('`sub` is missing'));
  for (const iat of [now + 90, now + 3_600])
    await expect(verified(verifier, await sign({ iat }))).rejects.toMatchObject(refused('not valid yet'));
  for (const iat of [now - 86_400, now, now + 50, undefined])
    expect(await verified(verifier, await sign({ iat }))).toMatchObject({ id: 'service:all' });
});

it('a token of another issuer is refused when it is longer than any token is', async () => {
  const { verifier, sign } = await start();
  const long = verified(verifier, await sign({ padding: 'x'.repeat(13_000) }));
  await expect(long).rejects.toMatchObject(refused('16384'));
});

it('a token of another issuer is refused when its key is weak or spoilt, and others of its issuer are not', async () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 });
  const { verifier, sign } = await start([
    { ...(await exportJWK(weak.publicKey)), kid: 'weak', alg: 'RS256' },
    { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'spoilt', alg: 'ES256' },
    { kty: 'RSA', kid: 'empty', alg: 'RS256' },
  ]);
  const tokens = [signRsa(weak.privateKey, 'weak'), signRsa(weak.privateKey, 'empty'), await sign({}, 'spoilt')];
  for (const token of tokens) await expect(verified(verifier, token)).rejects.toMatchObject(refused('key'));
  expect(await verifier.verify(await sign())).toMatchObject({ name: 'all' });
});
