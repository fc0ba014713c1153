import { createAccount, createUser } from '@nats-io/jwt';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { isUserKey, issueCredential, issueToken, revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { issueTokensInThread } from '#shared/broker/authority/run-signing-thread.ts';
import { formatCredential, parseCredential, signOwnUser } from '#shared/broker/connection/credential.ts';
import { tiers } from '#shared/core/tier.ts';
import { isTicketAckSubject } from '#shared/broker/contract/ack.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';

const certificate = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----';

describe('a credential', () => {
  it('contains its name, cluster, expiry and CA', async () => {
    const authority = await createAuthority('mine', `${certificate}\n${certificate}`);
    const { text, issued } = await issueCredential(authority, { role: 'cloud', name: 'joes-box', validMs: 60_000 });
    const { seed, jwt, account, expiresAt = 0, ...facts } = parseCredential(text.replaceAll('\n', '\r\n'));
    const isSigningKey = false;
    expect(facts).toEqual({ role: 'cloud', name: 'joes-box', prefix: 'mine', ca: expect.any(String), isSigningKey });
    expect(account).toMatch(/^A/);
    expect(facts.ca?.match(/BEGIN/g)).toHaveLength(2);
    expect(Math.abs(expiresAt - (issued.expiresAt ?? 0))).toBeLessThan(1_000);
    expect(Buffer.from(seed).toString()).toMatch(/^SU/);
    expect(jwt.split('.')).toHaveLength(3);
  });

  it('that is shared gives each process a user of its own, and its seed to none', async () => {
    const authority = await createAuthority('mine', certificate);
    const { text } = await issueCredential(authority, { role: 'gpu', name: 'gpu', shared: true });
    expect(text).not.toContain('USER NKEY SEED');
    const shared = parseCredential(text);
    expect(shared).toMatchObject({ role: 'gpu', name: 'gpu', prefix: 'mine', isSigningKey: true, ca: certificate });
    const [one, other] = [await signOwnUser(shared), await signOwnUser(shared)];
    expect(one).toMatchObject({ role: 'gpu', name: 'gpu', prefix: 'mine', isSigningKey: false, ca: certificate });
    expect(one.userKey).toMatch(/^U/);
    expect(one.userKey).not.toBe(other.userKey);
    expect(Buffer.from(one.seed).toString()).toMatch(/^SU/);
    expect(await signOwnUser(one)).toBe(one);
  });

  it('that a box asks for with its public key has one name in all roles, which no other key gets', async () => {
    const authority = await createAuthority('mine', undefined);
    const user = createUser();
    const key = user.getPublicKey();
    const tokens = await issueTokensInThread(
      authority,
      tiers.map((role) => ({ role, name: 'joes-box', key })),
    );
    expect(tokens.map(({ issued }) => issued)).toMatchObject(tiers.map((role) => ({ role, name: 'joes-box', key })));
    for (const [at, { jwt }] of tokens.entries())
      expect(parseCredential(formatCredential(jwt, user, certificate))).toMatchObject({
        role: tiers[at],
        name: 'joes-box',
        isSigningKey: false,
        ca: certificate,
      });
    authority.issued.push(...tokens.map(({ issued }) => issued));
    await issueToken(authority, { role: 'gpu', name: 'joes-box', key });
    const other = createUser().getPublicKey();
    const taken = issueToken(authority, { role: 'gpu', name: 'joes-box', key: other });
    await expect(taken).rejects.toThrow('there is a credential named joes-box');
    const revoked = revokeCredentials(authority, ({ name }) => name === 'joes-box');
    expect(revoked.map(({ role }) => role)).toEqual([...tiers]);
    await issueToken(authority, { role: 'gpu', name: 'joes-box', key: other });
  });

  it('is for a public key of a user whose checksum is right', () => {
    const key = createUser().getPublicKey();
    expect(isUserKey(key)).toBe(true);
    const damaged = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    for (const wrong of [createAccount().getPublicKey(), damaged, `${key}A`, key.toLowerCase(), '', 'U'])
      expect([wrong, isUserKey(wrong)]).toEqual([wrong, false]);
  });

  it('is refused without being quoted if it is invalid, damaged, or not of this router', async () => {
    const { text } = await issueCredential(await createAuthority('rtr', undefined), { role: 'gpu', name: 'gpu' });
    const damaged = text.replace(/\n(ey[^.]+)\.ey/, '\n$1.ex');
    for (const [wrong, sentence] of [
      ['', 'this is no credential'],
      [text.replace('SEED', 'TEXT'), 'this is no credential'],
      [damaged, 'is damaged'],
    ] as const) {
      expect(() => parseCredential(wrong)).toThrow(sentence);
      expect(() => parseCredential(wrong)).not.toThrow(/SU[A-Z2-7]{20}/);
    }
  });
});

const subjects = createSubjects('rtr');
it.each([
  ['$JS.ACK.rtr_JOBS_gpu.pool_high.1.2.3.4.0', true],
  ['$JS.ACK._.hash.rtr_JOBS_gpu.pool_high.1.2.3.4.0', true],
  ['$JS.ACK._.hash.rtr_JOBS_gpu.pool_high.1.2.3.4.0.token', true],
  ['$JS.ACK.rtr_JOBS_cloud.pool_high.1.2.3.4.0', false],
  ['$JS.ACK._.hash.rtr_JOBS_cloud.pool_high.1.2.3.4.0', false],
  ['$JS.ACK.rtr_JOBS_cloud.pool_high.rtr_JOBS_gpu.1.2.3.4.0.5', false],
  ['$JS.ACK.rtr_JOBS_gpu.pool_high', false],
  ['$JS.ACK.*.hash.rtr_JOBS_gpu.pool_high.1.2.3.4.0', false],
  ['$JS.API.STREAM.PURGE.rtr_JOBS_gpu', false],
  ['$JS.ACK.rtr_JOBS_gpu.pool_high.1.2.3.4.0 x\r\nPUB', false],
  ['', false],
])('the ack subject of a ticket is %j: %j', (subject, is) => {
  expect(isTicketAckSubject(subjects, 'gpu', subject)).toBe(is);
});
