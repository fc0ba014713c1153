import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyAlphabet, computeKeyChecksum, keyKinds, keyPattern } from '#shared/accounts/keys/key-format.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import { isKeyId, parseKey } from '#shared/accounts/keys/parse-key.ts';

/** Keys of a release before 1.0, with ids and secrets that are easy to recognise. */
const earlierKeys = [
  'rtr_0123456789ab_0123456789abcdefghjkmnpqrstvwxyz03m069g0',
  'user.0123456789ab.0123456789abcdefghjkmnpqrstvwxyz00htn67y',
  'team.0123456789ab.0123456789abcdefghjkmnpqrstvwxyz0391g47c',
];

describe('parseKey', () => {
  it.each([
    ['router', /^rtr_[0-9a-z]{12}_[0-9a-z]{40}$/],
    ['user', /^user\.rtr_[0-9a-z]{12}_[0-9a-z]{40}$/],
    ['team', /^team\.rtr_[0-9a-z]{12}_[0-9a-z]{40}$/],
  ] as const)('takes a new %s key apart', (kind, spelling) => {
    const { rawKey: raw, start, id, secret } = generateKey(kind);
    expect(raw).toMatch(spelling);
    expect(parseKey(raw)).toEqual({ id, secret });
    expect(start + secret).toBe(raw);
    expect(isKeyId(id)).toBe(true);
  });

  it.each(earlierKeys)('still reads %s, so that an upgrade locks nobody out', (raw) => {
    expect(parseKey(raw)).toEqual({ id: '0123456789ab', secret: raw.slice(-40) });
  });

  it('refuses every key with one mistyped character', () => {
    const { rawKey: raw } = generateKey('router');
    for (let at = 0; at < raw.length; at++) {
      for (const other of `${keyAlphabet}_.I `) {
        if (other === raw[at]) continue;
        expect(parseKey(raw.slice(0, at) + other + raw.slice(at + 1))).toBeUndefined();
      }
    }
  });

  it('refuses two swapped neighbours, a missing character and a doubled one', () => {
    const { rawKey: raw } = generateKey('user');
    for (let at = 1; at < raw.length; at++) {
      const [before = '', after = ''] = [raw[at - 1], raw[at]];
      if (before !== after) expect(parseKey(raw.slice(0, at - 1) + after + before + raw.slice(at + 1))).toBeUndefined();
      expect(parseKey(raw.slice(0, at) + raw.slice(at + 1))).toBeUndefined();
      expect(parseKey(raw.slice(0, at) + after + raw.slice(at))).toBeUndefined();
    }
  });

  it('refuses a key that mixes two spellings, even with a fitting checksum', () => {
    const [id, random] = ['0'.repeat(12), '0'.repeat(33)];
    for (const unchecked of [`rtr.${id}.${random}`, `user.rtr_${id}.${random}`, `team.${id}_${random}`])
      expect(parseKey(unchecked + computeKeyChecksum(unchecked))).toBeUndefined();
  });

  it('refuses any other text, by itself or around a good key', () => {
    const { rawKey: raw } = generateKey('team');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseKey(text)).toBeUndefined();
        if (text !== '') expect(parseKey(raw + text)).toBeUndefined();
        if (text !== '') expect(parseKey(text + raw)).toBeUndefined();
      }),
    );
  });
});

it('mintKey never makes the same id or secret twice, and uses the whole alphabet', () => {
  const keys = Array.from({ length: 2_000 }, (_, i) => generateKey(keyKinds[i % 3] ?? 'router'));
  expect(new Set(keys.map(({ id }) => id)).size).toBe(keys.length);
  expect(new Set(keys.map(({ secret }) => secret)).size).toBe(keys.length);
  expect(new Set(keys.flatMap(({ secret }) => Array.from(secret.slice(0, 33)))).size).toBe(keyAlphabet.length);
});

it('the pattern for secret scanners finds new and earlier keys of every kind in a text, and nothing else', () => {
  const keys = [...keyKinds.map((kind) => generateKey(kind).rawKey), ...earlierKeys];
  const others =
    'rtr_open_requests rtr_0123456789ab_… user.name@example.com team.0123456789ab rtr_refresh_0123456789ab_1_x';
  const text = keys.map((key) => `KEY="${key}" # ${others}`).join('\n');
  expect([...text.matchAll(new RegExp(keyPattern, 'g'))].map(([found]) => found)).toEqual(keys);
});
