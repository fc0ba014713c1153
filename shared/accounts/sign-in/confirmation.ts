import { RouterError } from '#shared/core/errors.ts';
import type { UserRecord } from '../people/user.ts';

/**
 * Whether a person's provider still lets the person sign in. `unknown`: the provider has not answered for too long. The person's request is
 * then refused, but sessions and tokens of the person do not end.
 */
export type Confirmation = 'confirmed' | 'refused' | 'unknown';

/**
 * Checks whether a person's provider still lets the person sign in.
 * @throws RouterError `store_unavailable`
 */
export type Confirm = (user: UserRecord) => Promise<Confirmation>;

/** Thrown if the provider cannot tell whether it still lets a person sign in. The person may try again. */
export class UnconfirmedError extends RouterError {
  override name = 'UnconfirmedError';

  constructor() {
    const message =
      'Your identity provider cannot be asked about you at this moment, and has not answered for too long. Please try again soon, or sign in again.';
    super('store_unavailable', message, { retryAfter: 5 });
  }
}
