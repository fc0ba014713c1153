import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseSecrets } from '#shared/accounts/secrets/parse-secrets.ts';

describe('the secrets that an operator sets', () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];

  it('are 32 bytes as hex or in either alphabet of base64, newest first', () => {
    const text = `${first.toString('hex')}, ${second.toString('base64')},${second.toString('base64url')}`;
    expect(parseSecrets(text)).toEqual([first, second, second]);
    expect(parseSecrets(first.toString('hex').toUpperCase())).toEqual([first]);
  });

  it('are passphrases of 32 characters or more, each a secret of its own', () => {
    const [long, longer] = ['correct horse battery staple and', 'correct horse battery staple and so on'];
    const [a, b] = parseSecrets(`${long},${longer}`) ?? [];
    expect([a?.length, b?.length]).toEqual([32, 32]);
    expect(a).not.toEqual(b);
    expect(parseSecrets(long)).toEqual([a]);
  });

  it.each(['', ' ', 'too short', first.toString('hex').slice(0, 30), `${first.toString('hex')},`, 'short,short'])(
    'are refused together when one of them is too short: %j',
    (text) => {
      expect(parseSecrets(text)).toBeUndefined();
    },
  );
});
