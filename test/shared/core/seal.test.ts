import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { deriveKey, createSealer } from '#shared/core/seal.ts';

describe('a sealer', () => {
  const key = randomBytes(32);
  const { seal, sealBytes, unseal } = createSealer(key);

  it('opens what it has sealed, and seals equal texts equally', () => {
    const sealed = seal('Grüße, 🦡');
    expect(sealed).toMatch(/^[\w-]+$/);
    expect(unseal(sealed)).toBe('Grüße, 🦡');
    expect(seal('Grüße, 🦡')).toBe(sealed);
    expect(unseal(seal(''))).toBe('');
  });

  it('seals the bytes of a text as the text itself', async () => {
    const text = 'Grüße, 🦡'.repeat(100_000);
    const bytes = Buffer.from(text);
    const pieces = [bytes.subarray(0, 3), bytes.subarray(3, 700_000), bytes.subarray(700_000)];
    expect((await sealBytes(pieces)) === seal(text)).toBe(true);
    expect(await sealBytes([])).toBe(seal(''));
  });

  it('does not open texts of another key, or changed texts', () => {
    expect(unseal(createSealer(deriveKey(key, 'another owner')).seal('secret'))).toBeUndefined();
    const bytes = Buffer.from(seal('secret'), 'base64url');
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(unseal(changed.toString('base64url'))).toBeUndefined();
    }
    expect(unseal('')).toBeUndefined();
    expect(unseal('gAAAA-not-ours')).toBeUndefined();
  });
});
