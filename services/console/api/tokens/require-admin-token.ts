import type { NextFunction, Request, Response } from 'express';
import type { AdminScope, AdminTokenRecord } from '#shared/accounts/keys/admin-tokens/admin-token.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { UnconfirmedError, type Confirm } from '#shared/accounts/sign-in/confirmation.ts';
import { setActor, type Actor } from '../actor.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import type { Operation } from '../operations/operation.ts';
import { lacksSecondFactor, secondFactorFailure } from '../second-factor/require-second-factor.ts';

export interface AdminTokenParts extends Pick<ApiParts, 'accounts' | 'secondFactors'> {
  /** See `createHolderConfirmer`. */
  confirmHolder: Confirm;
}

/**
 * Creates the middleware that refuses requests without a valid admin token. The token's person must exist, must not be blocked, must be
 * admitted by their provider, and must have a second factor if one is demanded of them.
 */
export function requireAdminToken(parts: AdminTokenParts) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const [, sentToken = ''] = /^bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
    const token = await parts.accounts.adminTokens.verify(sentToken, Date.now());
    const actor = token && (await findActor(parts, token, request.ip ?? ''));
    if (!actor) {
      response.setHeader('www-authenticate', 'Bearer');
      const message =
        sentToken === ''
          ? 'This request has no admin token. Send one as `Authorization: Bearer rtradmin_…`.'
          : 'Send an admin token as `Authorization: Bearer rtradmin_…`. This one is unknown, revoked or expired, or its person was signed out everywhere since.';
      throw new ApiFailure(401, 'invalid_token', message);
    }
    setActor(response, actor);
    response.locals['scopes'] = token.scopes;
    next();
  };
}

/**
 * Checks that the scopes of the request's token permit an operation.
 * @throws ApiFailure 403
 */
export function requireScope(response: Response, { scopes }: Operation): void {
  const tokenScopes = response.locals['scopes'] as readonly AdminScope[];
  if (tokenScopes.includes('admin') || tokenScopes.some((scope) => scopes.includes(scope))) return;
  const needed = joinScopes([...scopes, 'admin'], ' or ');
  throw new ApiFailure(
    403,
    'insufficient_scope',
    `This needs a token with the scope ${needed}. This one has ${joinScopes(tokenScopes)}.`,
  );
}

function joinScopes(scopes: readonly string[], between = ', '): string {
  return scopes.map((scope) => `\`${scope}\``).join(between);
}

/**
 * Returns the sender of a request with a token. Returns undefined if the token's person may no longer use the token.
 * @throws ApiFailure 403 if a second factor is demanded of the person and they have none
 * @throws UnconfirmedError while the person's provider cannot be asked whether it still admits the person
 */
async function findActor(
  parts: AdminTokenParts,
  { id, name, ownerId, epoch = 0, madeAt, expiresAt, isForCommand }: AdminTokenRecord,
  address: string,
): Promise<Actor | undefined> {
  const { users, teams } = parts.accounts;
  const token = { id, name, madeAt, expiresAt, isForCommand };
  if (ownerId === undefined) return { id: `token:${id}`, name, role: 'admin', teams: new Map(), address, token };
  const isAdmitted = (user: UserRecord | undefined): user is UserRecord =>
    user !== undefined && user.blockedAt === undefined && (user.tokenEpoch ?? 0) === epoch;
  const owner = await users.find(ownerId);
  if (!isAdmitted(owner)) return undefined;
  if ((await parts.confirmHolder(owner)) === 'unknown') throw new UnconfirmedError();
  // The person is read again, because the provider may have changed the role or ended the token.
  const user = owner.passwordHash === '' ? await users.find(ownerId) : owner;
  if (!isAdmitted(user)) return undefined;
  // A person without a password can have a second factor only at the identity provider.
  if (user.passwordHash !== '' && (await lacksSecondFactor(parts, user.id))) throw secondFactorFailure();
  const { role, tokenEpoch } = user;
  return { id: user.id, name: user.name, role, teams: await teams.teamsOf(user.id), address, token, tokenEpoch };
}
