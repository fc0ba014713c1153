import { expect, it } from 'vitest';
import { hashPassword } from '#shared/accounts/sign-in/hash-password.ts';

it('hashes a password with the cost that OWASP recommends for Argon2id', async () => {
  expect(await hashPassword('correct horse')).toMatch(/^\$argon2id\$v=19\$m=19456,(t=2,p=1|p=1,t=2)\$/);
});
