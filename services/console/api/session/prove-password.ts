import type { Request } from 'express';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { ApiFailure } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { guardGuess } from './guard-guess.ts';

/**
 * Checks a password and returns its person. An unknown address, a wrong password and a blocked person get the same answer after the same
 * time.
 * @throws ApiFailure 401 or 403 for a wrong password, see `wrongCredentials`; 429 after too many wrong passwords
 */
export async function provePassword(
  parts: ApiParts,
  request: Request,
  { email, password, find, field }: PasswordProof,
): Promise<UserRecord> {
  const { passwords, devices } = parts;
  const address = request.ip ?? '';
  const user = await find();
  const signInTry = { address, email, device: devices.find(request, user) };
  const proven = await guardGuess(parts, {
    signInTry,
    refusal: 'Too many attempts to sign in.',
    onRefusals: () => writeAudit(parts, null, { action: 'session.refused', target: null, details: { address, email } }),
    judge: async () => {
      // A person who signs in only at an identity provider has no password.
      const hash = user?.passwordHash === '' ? undefined : user?.passwordHash;
      const matches = await passwords.matches(address, hash, password);
      return matches && user?.blockedAt === undefined ? user : undefined;
    },
    resetsCount: true,
  });
  if (!proven) throw wrongCredentials(field);
  if (field === undefined && proven.usedEmail !== proven.email)
    await parts.accounts.users.noteEmail(proven.id, proven.email, { used: true });
  return proven;
}

export interface PasswordProof {
  email: string;
  password: string;
  /** Finds the person with the address. */
  find: () => Promise<UserRecord | undefined>;
  /** The contract's name for the password; undefined for a sign-in. */
  field?: string;
}

/**
 * Returns the failure for a wrong password: 403 with the field, or 401 at a sign-in.
 * @param field see `PasswordProof`
 */
export function wrongCredentials(field?: string): ApiFailure {
  if (field === undefined) {
    return new ApiFailure(401, 'wrong_credentials', 'The e-mail address or the password is wrong.');
  }
  return new ApiFailure(403, 'wrong_credentials', 'This is not your password.', { field });
}
