import type { TeamRecord } from '#shared/accounts/people/team-store.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { requireAccess, type Action } from '../access.ts';
import type { Actor } from '../actor.ts';
import { notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';

/**
 * Finds a person and checks that the actor may manage people.
 * @throws ApiFailure 403 or 404
 */
export async function findPerson(
  { accounts }: Pick<ApiParts, 'accounts'>,
  actor: Actor,
  id: string,
): Promise<UserRecord> {
  requireAccess('user.manage', actor);
  const user = await accounts.users.find(id);
  if (!user) throw notFound();
  return user;
}

/**
 * Finds a team and checks that the actor may do the action on it.
 * @throws ApiFailure 403 or 404
 */
export async function findTeam(
  { accounts }: Pick<ApiParts, 'accounts'>,
  action: Action,
  actor: Actor,
  id: string,
): Promise<TeamRecord> {
  requireAccess(action, actor, { kind: 'team', id });
  const team = await accounts.teams.find(id);
  if (!team) throw notFound();
  return team;
}

export function auditPerson(
  parts: ApiParts,
  actor: Actor,
  { id, name }: UserRecord,
  action: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  return writeAudit(parts, actor, { action, target: { kind: 'user', id, name }, details });
}

export function auditTeam(
  parts: ApiParts,
  actor: Actor,
  { id, name }: TeamRecord,
  action: string,
  details: Record<string, unknown> = {},
): Promise<void> {
  return writeAudit(parts, actor, { action, target: { kind: 'team', id, name }, details });
}
