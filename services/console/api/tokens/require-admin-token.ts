import type { NextFunction, Request, Response } from 'express';
import type { AdminScope, AdminTokenRecord } from '#shared/accounts/admin-tokens/admin-token.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { UnconfirmedError, type Confirm } from '#shared/accounts/sign-in/confirmation.ts';
import { setActor, type Actor } from '../actor.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';
import type { Operation } from '../operations/operation.ts';
import { lacksSecondFactor, secondFactorDemanded } from '../second-factor/require-second-factor.ts';

export interface AdminTokenParts extends Pick<ApiParts, 'accounts' | 'secondFactors'> {
  /** See `holderConfirmer`. */
  confirmHolder: Confirm;
}

/**
 * Creates the middleware that refuses requests without a valid admin token. The token's person must exist and must not be
 * blocked. Their provider must admit them. If a second factor is demanded of them, they must have one.
 */
export function requireAdminToken(parts: AdminTokenParts) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const [, raw = ''] = /^bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
    const token = await parts.accounts.adminTokens.verify(raw, Date.now());
    const actor = token && (await actorOfToken(parts, token, request.ip ?? ''));
    if (!actor) {
      response.setHeader('www-authenticate', 'Bearer');
      const message =
        raw === ''
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
 * Checks that a token's scopes suffice for an operation.
 * @throws ApiFailure 403
 */
export function requireScope(response: Response, { scopes }: Operation): void {
  const tokenScopes = response.locals['scopes'] as readonly AdminScope[];
  if (tokenScopes.includes('admin') || tokenScopes.some((scope) => scopes.includes(scope))) return;
  const needed = words([...scopes, 'admin'], ' or ');
  throw new ApiFailure(
    403,
    'insufficient_scope',
    `This needs a token with the scope ${needed}. This one has ${words(tokenScopes)}.`,
  );
}

function words(scopes: readonly string[], between = ', '): string {
  return scopes.map((scope) => `\`${scope}\``).join(between);
}

/**
 * Returns the actor of a token; undefined when its person may not use it any more.
 * @throws ApiFailure 403 when a second factor is demanded of the person, who has none
 * @throws UnconfirmedError while it is not known whether the person's provider still admits them
 */
async function actorOfToken(
  parts: AdminTokenParts,
  { id, name, ownerId, epoch = 0, madeAt, expiresAt, isForCommand }: AdminTokenRecord,
  address: string,
): Promise<Actor | undefined> {
  const { users, teams } = parts.accounts;
  const token = { id, name, madeAt, expiresAt, isForCommand };
  if (ownerId === undefined) return { id: `token:${id}`, name, role: 'admin', teams: new Map(), address, token };
  const isIn = (user: UserRecord | undefined): user is UserRecord =>
    user !== undefined && user.blockedAt === undefined && (user.tokenEpoch ?? 0) === epoch;
  const found = await users.find(ownerId);
  if (!isIn(found)) return undefined;
  if ((await parts.confirmHolder(found)) === 'unknown') throw new UnconfirmedError();
  // The person is read again, because the provider may have changed the role or ended the token.
  const user = found.passwordHash === '' ? await users.find(ownerId) : found;
  if (!isIn(user)) return undefined;
  // A person without a password can have a second factor only at the identity provider.
  if (user.passwordHash !== '' && (await lacksSecondFactor(parts, user.id))) throw secondFactorDemanded();
  const { role, tokenEpoch } = user;
  return { id: user.id, name: user.name, role, teams: await teams.teamsOf(user.id), address, token, tokenEpoch };
}
