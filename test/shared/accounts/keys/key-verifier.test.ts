import * as argon2 from 'argon2';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import { checksumLength, computeKeyChecksum } from '#shared/accounts/keys/key-format.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { InvalidKeyError } from '#shared/accounts/keys/invalid-key-error.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { until } from '../../../helpers/until.ts';

const matchesHash = vi.fn(argon2.verify);
const find = vi.fn<KeyStore['find']>();
const wrong = { code: 'invalid_api_key' };

let store: KeyStore;
let good: CreatedKey;
let verifier: KeyVerifier;

beforeEach(async () => {
  ({ store } = await openKeyStore());
  good = await createKey(store, { kind: 'router', name: 'good', class: 'high' });
  matchesHash.mockClear();
  find.mockReset().mockImplementation((id) => store.find(id));
  const replaceHash: KeyStore['replaceHash'] = (...hashes) => store.replaceHash(...hashes);
  verifier = new KeyVerifier({ find, replaceHash }, { matchesHash });
});
afterEach(() => void vi.useRealTimers());

/** A key with the right id and a fitting checksum, but a wrong secret. */
function forged(raw: string, n = 0): string {
  const unchecked = raw.slice(0, -40) + String(n).padStart(40 - checksumLength, '0');
  return unchecked + computeKeyChecksum(unchecked);
}

const verify = async (raw: string, by = verifier) => by.verify(raw);
/** Verifies many keys at once. */
const verifyAll = (raws: readonly string[], by = verifier) => Promise.allSettled(raws.map((raw) => verify(raw, by)));
/** Returns the code of a refusal, and the id of the key that it names. */
const refusalOf = (raw: string) => verify(raw).catch(({ code, key }: InvalidKeyError) => [code, key?.id]);

/** Makes the next read of a key at once, and delivers its result when the returned function is called. */
function holdRead(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  find.mockImplementationOnce(async (id) => {
    const record = await store.find(id);
    await promise;
    return record;
  });
  return resolve;
}

describe('KeyVerifier, given a key that is new to it,', () => {
  it('returns its identity, with one hash for a hundred callers at once, and from then on without waiting', async () => {
    const unlimited = { ownerId: undefined, models: undefined, tiers: undefined, tools: undefined, limits: [] };
    const identity = { id: good.record.id, kind: 'router', name: 'good', class: 'high', ...unlimited };
    const settled = await verifyAll(Array<string>(100).fill(good.rawKey));
    expect(settled).toEqual(settled.map(() => ({ status: 'fulfilled', value: identity })));
    expect(verifier.verify(good.rawKey)).toEqual(identity);
    expect(matchesHash).toHaveBeenCalledOnce();
  });

  it('names a known key in its refusal, and none for an id that no key has', async () => {
    const refused = async (raw: string): Promise<unknown> => {
      const error: unknown = await verify(raw).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ ...wrong, message: 'Incorrect API key provided.' });
      return error instanceof InvalidKeyError ? error.key : 'not said';
    };
    const known = { id: good.record.id, kind: 'router', name: 'good', ownerId: undefined };
    const [forgedKey, unknown] = [forged(good.rawKey), generateKey('router').rawKey];
    expect([await refused(forgedKey), await refused(unknown)]).toEqual([known, undefined]);
    // Again, at once from memory, and once the right secret is known.
    for (const raw of [forgedKey, unknown]) expect(() => verifier.verify(raw)).toThrow(expect.objectContaining(wrong));
    expect([await refused(forgedKey), await refused(unknown)]).toEqual([known, undefined]);
    expect(matchesHash).toHaveBeenCalledOnce();
    await verifier.verify(good.rawKey);
    for (let n = 1; n < 100; n++) expect(await refused(forged(good.rawKey, n))).toEqual(known);
    expect(matchesHash).toHaveBeenCalledTimes(2);
    expect(await refused('rtr_nonsense')).toBeUndefined();
    const expired = await createKey(store, { kind: 'router', name: 'old', class: 'normal', expiresAt: Date.now() - 1 });
    expect(await refused(expired.rawKey)).toMatchObject({ id: expired.record.id, name: 'old' });
    await store.revoke(good.record.id, Date.now());
    verifier.drop(good.record.id);
    expect(await refused(good.rawKey)).toEqual(known);
  });

  it('refuses a mistyped secret without a hash or a read of the store, and names its key if the key is in memory', async () => {
    const mistyped = `${good.rawKey.slice(0, -8)}${'0'.repeat(8)}`;
    expect(() => verifier.verify(mistyped)).toThrow(expect.objectContaining({ ...wrong, key: undefined }));
    expect(await refusalOf('nonsense')).toEqual([wrong.code, undefined]);
    expect(find).not.toHaveBeenCalled();
    await verifier.verify(good.rawKey);
    matchesHash.mockClear();
    expect(await refusalOf(mistyped)).toEqual([wrong.code, good.record.id]);
    expect(find).toHaveBeenCalledTimes(1);
    expect(matchesHash).not.toHaveBeenCalled();
  });

  it('refuses garbage at once, without reading the store', () => {
    for (const raw of ['', 'sk-12345', `${good.rawKey}x`, 'x'.repeat(100_000)])
      expect(() => verifier.verify(raw)).toThrow(expect.objectContaining(wrong));
    expect(find).toHaveBeenCalledTimes(0);
  });

  it('refuses the right id and random characters in the spelling of another kind', async () => {
    const random = good.rawKey.slice(-40, -checksumLength);
    for (const unchecked of [`user.rtr_${good.record.id}_${random}`, `user.${good.record.id}.${random}`])
      await expect(verify(unchecked + computeKeyChecksum(unchecked))).rejects.toMatchObject(wrong);
  });

  it('answers "overloaded", not "wrong", when too many wait for one id, and serves the rest', async () => {
    const gate = Promise.withResolvers<void>();
    const heldHash = (hash: string, secret: string) => gate.promise.then(() => matchesHash(hash, secret));
    const verifier = new KeyVerifier(store, { matchesHash: heldHash, concurrency: 1 });
    const reasons: RouterError[] = [];
    const verified = Array.from({ length: 20 }, (_, n) =>
      verify(forged(good.rawKey, n), verifier).catch((error: RouterError) => reasons.push(error)),
    );
    // The others wait until all have come.
    await until(() => reasons.length === 15);
    gate.resolve();
    await Promise.all(verified);
    const codes = reasons.map(({ code, retryAfter }) => `${code} ${retryAfter}`);
    expect(codes.slice(0, 15)).toEqual(Array(15).fill('overloaded 2'));
    expect(codes.slice(15)).toEqual(Array(5).fill('invalid_api_key undefined'));
    await expect(verifier.verify(good.rawKey)).resolves.toMatchObject({ id: good.record.id });
  });

  it('refuses further ids while five hundred are looked for, whoever has made them up, and serves keys in use', async () => {
    const gate = Promise.withResolvers<void>();
    const find = async (id: string) => (id === good.record.id ? store.find(id) : gate.promise.then(() => undefined));
    const verifier = new KeyVerifier({ find, replaceHash: () => Promise.resolve(false) }, { matchesHash });
    await verifier.verify(good.rawKey);
    const codes: unknown[] = [];
    const refused = Array.from({ length: 1_000 }, () =>
      verify(generateKey('router').rawKey, verifier).catch(({ code }: RouterError) => codes.push(code)),
    );
    await until(() => codes.length > 0);
    expect(codes).toEqual(Array<string>(488).fill('overloaded'));
    expect(verifier.verify(good.rawKey)).toMatchObject({ id: good.record.id });
    gate.resolve();
    await Promise.all(refused);
    expect(codes.filter((code) => code === 'invalid_api_key')).toHaveLength(512);
  });
});

describe('KeyVerifier, given a key whose hash has another cost,', () => {
  const passwordCost = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
  let oldHash: string;

  beforeEach(async () => {
    oldHash = await argon2.hash(good.rawKey.slice(-40), passwordCost);
    await store.replaceHash(good.record.id, good.record.hash, oldHash);
  });

  const storedHash = async () => (await store.find(good.record.id))?.hash;

  it('accepts it, but no wrong secret, stores a hash of the present cost, and computes no other hash for it', async () => {
    await expect(verifier.verify(forged(good.rawKey))).rejects.toMatchObject(wrong);
    expect(await storedHash()).toBe(oldHash);
    matchesHash.mockClear();
    await expect(verifier.verify(good.rawKey)).resolves.toMatchObject({ id: good.record.id });
    await until(async () => (await storedHash()) !== oldHash);
    const hash = (await storedHash()) ?? '';
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=256,(t=1,p=1|p=1,t=1)\$/);
    expect(await argon2.verify(hash, good.rawKey.slice(-40))).toBe(true);
    verifier.markStale();
    await expect(verifier.verify(good.rawKey)).resolves.toMatchObject({ id: good.record.id });
    expect(matchesHash).toHaveBeenCalledOnce();
    await expect(new KeyVerifier(store, { matchesHash }).verify(good.rawKey)).resolves.toMatchObject({ name: 'good' });
  });

  it('keeps it revoked, and does not bring back a record that is gone', async () => {
    await store.revoke(good.record.id, 1_000);
    expect(await store.replaceHash(good.record.id, oldHash, good.record.hash)).toBe(true);
    expect(await store.replaceHash(good.record.id, oldHash, 'another')).toBe(false);
    expect(await store.find(good.record.id)).toEqual({ ...good.record, revokedAt: 1_000 });
    expect(await store.replaceHash('000000000000', oldHash, good.record.hash)).toBe(false);
    expect(await store.find('000000000000')).toBeUndefined();
  });

  it('answers the key while the new hash cannot be stored', async () => {
    const broken = { find: (id: string) => store.find(id), replaceHash: () => Promise.reject(new Error('away')) };
    expect(await new KeyVerifier(broken).verify(good.rawKey)).toMatchObject({ id: good.record.id });
    expect(await storedHash()).toBe(oldHash);
  });
});

it('KeyVerifier, after an announced change, refuses a key that is revoked while it is being verified', async () => {
  const release = holdRead();
  const verifying = verifier.verify(good.rawKey);
  await store.revoke(good.record.id, Date.now());
  verifier.drop(good.record.id);
  release();
  await expect(verifying).rejects.toMatchObject(wrong);
  expect(() => verifier.verify(good.rawKey)).toThrow(expect.objectContaining(wrong));
});

it('KeyVerifier, after an announced change, compares a secret once even when an announcement makes it read the record again', async () => {
  matchesHash.mockImplementationOnce((...args) => {
    verifier.drop(good.record.id);
    return argon2.verify(...args);
  });
  await expect(verifier.verify(good.rawKey)).resolves.toMatchObject({ id: good.record.id });
  expect(find).toHaveBeenCalledTimes(2);
  expect(matchesHash).toHaveBeenCalledOnce();
});

it('KeyVerifier, after an announced change, accepts a key that was created after it had been refused', async () => {
  const { rawKey: raw, id, secret } = generateKey('user');
  await expect(verifier.verify(raw)).rejects.toMatchObject(wrong);
  const hash = await argon2.hash(secret, { memoryCost: 1024, timeCost: 2, parallelism: 1 });
  await store.create({ ...good.record, kind: 'user', id, hash });
  verifier.drop(id);
  await expect(verifier.verify(raw)).resolves.toMatchObject({ id });
});

it('KeyVerifier, after an announced change, reads every key again after announcements may have been missed, without a new hash', async () => {
  const other = await createKey(store, { kind: 'team', name: 'other', class: 'low' });
  await verifier.verify(good.rawKey);
  await verifier.verify(other.rawKey);
  await store.revoke(good.record.id, Date.now());
  verifier.markStale();
  await expect(verifier.verify(good.rawKey)).rejects.toMatchObject(wrong);
  await expect(verifier.verify(other.rawKey)).resolves.toMatchObject({ id: other.record.id });
  expect(matchesHash).toHaveBeenCalledTimes(2);
});

it.each(['drop', 'markStale'] as const)(
  'KeyVerifier, after an announced change, does not trust what it read before %s came',
  async (announcement) => {
    await verifier.verify(good.rawKey);
    verifier.markStale();
    const release = holdRead();
    const verifying = verifier.verify(good.rawKey);
    // The read has reached the store, which answers one connection in order; then the key is revoked.
    await store.revoke(good.record.id, Date.now());
    verifier[announcement](good.record.id);
    release();
    await expect(verifying).rejects.toMatchObject(wrong);
  },
);

describe('KeyVerifier, as time goes by', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });

  it('reads the record again after the fresh time, without a new hash, once for all callers, and finds a revocation nobody announced', async () => {
    await verifier.verify(good.rawKey);
    vi.advanceTimersByTime(31_000);
    await expect(verifier.verify(good.rawKey)).resolves.toMatchObject({ id: good.record.id });
    expect(matchesHash).toHaveBeenCalledOnce();
    await store.revoke(good.record.id, Date.now());
    vi.advanceTimersByTime(29_000);
    expect(verifier.verify(good.rawKey)).toMatchObject({ id: good.record.id });
    vi.advanceTimersByTime(2_000);
    const settled = await verifyAll(Array<string>(50).fill(good.rawKey));
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['rejected']));
    // The first use, and two looks again.
    expect(find).toHaveBeenCalledTimes(3);
  });

  it('verifies a wrong key again after a while', async () => {
    const { rawKey: raw } = generateKey('user');
    await expect(verifier.verify(raw)).rejects.toMatchObject(wrong);
    vi.advanceTimersByTime(11_000);
    await expect(verifier.verify(raw)).rejects.toMatchObject(wrong);
    expect(find).toHaveBeenCalledTimes(2);
  });
});

it('KeyVerifier keeps the maximum of keys, those used last, and verifies the others anew', async () => {
  const verifier = new KeyVerifier(store, { matchesHash, maxKnown: 2 });
  const keys = [good];
  for (const name of ['second', 'third']) keys.push(await createKey(store, { kind: 'user', name, class: 'low' }));
  for (const { rawKey: raw } of keys) await verifier.verify(raw);
  const verified = keys.map(({ rawKey: raw }) => verifier.verify(raw));
  expect(verified.map((each) => each instanceof Promise)).toEqual([true, false, false]);
  await verified[0];
  expect(matchesHash).toHaveBeenCalledTimes(4);
});

it('KeyVerifier does not lose a good key to wrong secrets of other keys', async () => {
  const verifier = new KeyVerifier(store, { maxKnown: 1 });
  await verifier.verify(good.rawKey);
  const { rawKey: raw } = await createKey(store, { kind: 'user', name: 'other', class: 'low' });
  for (const n of [1, 2]) await expect(verify(forged(raw, n), verifier)).rejects.toMatchObject(wrong);
  expect(verifier.verify(good.rawKey)).toMatchObject({ id: good.record.id });
  await expect(verifier.verify(raw)).resolves.toMatchObject({ name: 'other' });
});

it('KeyVerifier does not lose a good key to twenty thousand wrong ones', async () => {
  const find = (id: string) => (id === good.record.id ? store.find(id) : Promise.resolve(undefined));
  const verifier = new KeyVerifier({ find, replaceHash: () => Promise.resolve(false) }, { matchesHash });
  await verifier.verify(good.rawKey);
  const some = () => Array.from({ length: 2_000 }, () => generateKey('user').rawKey);
  for (let round = 0; round < 10; round++) await verifyAll(some(), verifier);
  expect(verifier.verify(good.rawKey)).toMatchObject({ id: good.record.id });
});
