import { forbidden } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';

/** Refuses passwords and invitations where people sign in at providers alone. @throws ApiFailure 403 */
export function requireLocalAccounts({ signIn }: Pick<ApiParts, 'signIn'>): void {
  if (!signIn().local_accounts) throw forbidden('Here people sign in with their company account only.');
}
