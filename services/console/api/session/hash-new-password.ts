import type { Request } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import { QueueFullError } from '#shared/core/fair-queue.ts';
import { passwordLength } from '#shared/accounts/sign-in/passwords.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';

/**
 * Checks a newly chosen password and returns its hash.
 * @param personalTexts the person's name and e-mail address, which make a password easier to guess
 * @param field the contract's name for the password
 * @throws ApiFailure 400 for a password that is too short, too long, or easy to guess
 */
export async function hashNewPassword(
  { judgePassword, passwords }: Pick<ApiParts, 'judgePassword' | 'passwords'>,
  request: Request,
  { password, personalTexts, field }: { password: string; personalTexts: readonly string[]; field: string },
): Promise<string> {
  const { min, max } = passwordLength;
  if (password.length < min) throw weakPasswordFailure(`Use at least ${min} characters.`, field);
  if (password.length > max) throw weakPasswordFailure(`Use at most ${max} characters.`, field);
  const address = request.ip ?? '';
  const weakness = await judgePassword(address, password, personalTexts).catch((error: unknown) => {
    if (!(error instanceof QueueFullError)) throw error;
    const message = 'Too many passwords are being set. Please try again soon.';
    throw new RouterError('overloaded', message, { retryAfter: 5, cause: error });
  });
  if (weakness !== undefined) throw weakPasswordFailure(weakness, field);
  return passwords.hash(address, password);
}

function weakPasswordFailure(message: string, field: string): ApiFailure {
  return new ApiFailure(400, 'weak_password', message, { field });
}
