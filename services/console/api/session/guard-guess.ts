import type { SignInTry } from '#shared/accounts/sign-in/sign-in-guard.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';

export interface GuardedGuess<Proven> {
  /** Names the sender and the account for which wrong tries are counted. */
  signInTry: SignInTry;
  /** The beginning of the message after too many wrong tries, for example `Too many wrong codes.` */
  refusal: string;
  /** Called when the guard begins to refuse tries, for the audit trail. */
  onRefusals?: () => Promise<void>;
  /** Returns what is proven; undefined for a wrong try. Throws when it cannot decide. */
  judge: () => Promise<Proven | undefined>;
  /** Whether a right try resets the count of wrong tries. False if anybody can get a right answer. */
  isForgiving: boolean;
}

/**
 * Judges a try to prove something, unless the guard refuses the try. Only wrong tries count. A try that could not be judged does not count,
 * because otherwise an overload or an unreachable Redis would lock people out.
 * @returns what is proven; undefined for a wrong try
 * @throws ApiFailure 429 after too many wrong tries; RouterError `store_unavailable`; what `judge` throws
 */
export async function guardGuess<Proven>(
  { accounts: { signInGuard: guard }, log }: Pick<ApiParts, 'accounts' | 'log'>,
  { signInTry: attempt, refusal, onRefusals, judge, isForgiving }: GuardedGuess<Proven>,
): Promise<Proven | undefined> {
  const { waitMs, isNews } = await guard.take(attempt);
  if (isNews) await onRefusals?.();
  if (waitMs > 0) {
    const retryAfter = Math.ceil(waitMs / 1_000);
    const minutes = Math.ceil(retryAfter / 60);
    const message = `${refusal} Try again in ${minutes} minute${minutes === 1 ? '' : 's'}.`;
    throw new ApiFailure(429, 'too_many_attempts', message, { retryAfter });
  }
  const proven = await judge().catch(async (error: unknown) => {
    await guard.withdraw(attempt).catch((err: unknown) => {
      log.warn({ err }, 'a try that could not be judged counts as a wrong try');
    });
    throw error;
  });
  if (proven !== undefined) await (isForgiving ? guard.giveBack(attempt) : guard.withdraw(attempt));
  return proven;
}
