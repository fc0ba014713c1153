import type { SessionOpener } from '#shared/accounts/sign-in/session-store.ts';
import { localAccountsOff } from '../../contract/sign-in.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';

/**
 * Refuses passwords, invitations and other links if people may sign in only at providers. Links that an operator has printed stay allowed.
 * @throws ApiFailure 403
 */
export function requireLocalAccounts(
  { signIn }: Pick<ApiParts, 'signIn'>,
  { link }: Pick<SessionOpener, 'link'> = {},
): void {
  if (link === 'printed' || signIn().local_accounts) return;
  throw new ApiFailure(403, localAccountsOff, 'Here people sign in with their company account only.');
}
