import { RouterError } from '#shared/core/errors.ts';
import type { UserRecord } from '../people/user.ts';

/**
 * Whether the provider of a person still lets them in. `unknown`: it cannot be asked, and has not answered for too long. The person then gets
 * nothing, and loses nothing.
 */
export type Confirmation = 'confirmed' | 'refused' | 'unknown';

/** Finds out whether the provider of a person still lets them in. @throws RouterError `store_unavailable` */
export type Confirm = (user: UserRecord) => Promise<Confirmation>;

/** What somebody is answered of whom it is not known whether their provider lets them in. They may come again. */
export class UnconfirmedError extends RouterError {
  override name = 'UnconfirmedError';

  constructor() {
    const message =
      'Your identity provider cannot be asked about you at this moment, and has not answered for too long. Please try again soon, or sign in again.';
    super('store_unavailable', message, { retryAfter: 5 });
  }
}
