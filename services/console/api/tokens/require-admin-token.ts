import type { NextFunction, Request, Response } from 'express';
import type { AdminScope, AdminTokenRecord } from '#shared/accounts/admin-tokens/admin-token.ts';
import type { Accounts } from '#shared/accounts/accounts.ts';
import { setActor, type Actor } from '../actor.ts';
import { ApiFailure } from '../api-failure.ts';
import type { Operation } from '../operations/operation.ts';

/** Lets only requests with an admin token pass that has not expired, and whose person is there and not blocked. */
export function requireAdminToken(accounts: Pick<Accounts, 'adminTokens' | 'users' | 'teams'>) {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const [, raw = ''] = /^bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
    const token = await accounts.adminTokens.verify(raw, Date.now());
    const actor = token && (await actorOfToken(accounts, token, request.ip ?? ''));
    if (!actor) {
      response.setHeader('www-authenticate', 'Bearer');
      const message =
        'Send an admin token as `Authorization: Bearer rtradmin_…`. This one is unknown, revoked or expired.';
      throw new ApiFailure(401, 'invalid_token', message);
    }
    setActor(response, actor);
    response.locals['scopes'] = token.scopes;
    next();
  };
}

/** Checks that a token's scopes suffice for an operation. @throws ApiFailure 403 */
export function requireScope(response: Response, { scopes }: Operation): void {
  const given = response.locals['scopes'] as readonly AdminScope[];
  if (given.includes('admin') || given.some((scope) => scopes.includes(scope))) return;
  const needed = [...scopes, 'admin'].map((scope) => `\`${scope}\``).join(' or ');
  throw new ApiFailure(403, 'insufficient_scope', `This needs a token with the scope ${needed}.`);
}

async function actorOfToken(
  { users, teams }: Pick<Accounts, 'users' | 'teams'>,
  { id, name, ownerId, madeAt }: AdminTokenRecord,
  address: string,
): Promise<Actor | undefined> {
  const token = { id, name, madeAt };
  if (ownerId === undefined) return { id: `token:${id}`, name, role: 'admin', teams: new Map(), address, token };
  const user = await users.find(ownerId);
  if (!user || user.blockedAt !== undefined) return undefined;
  return { id: user.id, name: user.name, role: user.role, teams: await teams.teamsOf(user.id), address, token };
}
