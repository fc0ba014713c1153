import { RouterError } from '#shared/core/errors.ts';
import type { UserRecord } from '../people/user.ts';

/**
 * Whether the provider of a person still lets them sign in. `unknown`: the provider cannot be asked, and has not answered for too long. The
 * person's request is then refused, but their sessions and tokens are not ended.
 */
export type Confirmation = 'confirmed' | 'refused' | 'unknown';

/**
 * Checks whether the provider of a person still lets them sign in.
 * @throws RouterError `store_unavailable`
 */
export type Confirm = (user: UserRecord) => Promise<Confirmation>;

/** Thrown when it is not known whether the provider of a person still lets them sign in. The person may try again. */
export class UnconfirmedError extends RouterError {
  override name = 'UnconfirmedError';

  constructor() {
    const message =
      'Your identity provider cannot be asked about you at this moment, and has not answered for too long. Please try again soon, or sign in again.';
    super('store_unavailable', message, { retryAfter: 5 });
  }
}
