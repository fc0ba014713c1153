import { describe, expect, it } from 'vitest';
import { createAuthority } from '#shared/broker/authority/authority.ts';
import { issueCredential } from '#shared/broker/authority/credentials.ts';
import { parseCredential, signOwnUser } from '#shared/broker/connection/credential.ts';
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
