import type { SignInTry } from '#shared/accounts/sign-in/sign-in-guard.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';

export interface GuardedGuess<Proven> {
  /** The sender and the account for which the guard counts wrong guesses. */
  signInTry: SignInTry;
  /** The beginning of the message after too many wrong guesses, for example `Too many wrong codes.` */
  refusal: string;
  /** Called when the guard begins to refuse guesses, to write an audit entry. */
  onRefusals?: () => Promise<void>;
  /** Checks the guess. Returns undefined for a wrong guess, and throws if the guess cannot be checked. */
  judge: () => Promise<Proven | undefined>;
  /** Whether a right guess resets the count of wrong guesses. Must be false if anybody can get a right answer. */
  resetsCount: boolean;
}

/**
 * Checks a guess of a password or code, unless the guard refuses it. Only wrong guesses count. A guess that could not be checked does not
 * count, because otherwise an overload or an unreachable Redis would lock people out.
 * @returns the result of `judge`
 * @throws ApiFailure 429 after too many wrong guesses; RouterError `store_unavailable`; every error of `judge`
 */
export async function guardGuess<Proven>(
  { accounts: { signInGuard: guard }, log }: Pick<ApiParts, 'accounts' | 'log'>,
  { signInTry, refusal, onRefusals, judge, resetsCount }: GuardedGuess<Proven>,
): Promise<Proven | undefined> {
  const { waitMs, isNews } = await guard.take(signInTry);
  if (isNews) await onRefusals?.();
  if (waitMs > 0) {
    const retryAfter = Math.ceil(waitMs / 1_000);
    const minutes = Math.ceil(retryAfter / 60);
    const message = `${refusal} Try again in ${minutes} minute${minutes === 1 ? '' : 's'}.`;
    throw new ApiFailure(429, 'too_many_attempts', message, { retryAfter });
  }
  const proven = await judge().catch(async (error: unknown) => {
    await guard.withdraw(signInTry).catch((err: unknown) => {
      log.warn({ err }, 'a try that could not be judged counts as a wrong try');
    });
    throw error;
  });
  if (proven !== undefined) await (resetsCount ? guard.giveBack(signInTry) : guard.withdraw(signInTry));
  return proven;
}
