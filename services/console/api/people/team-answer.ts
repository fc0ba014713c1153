import type { Accounts } from '#shared/accounts/accounts.ts';
import type { TeamRecord } from '#shared/accounts/people/team-store.ts';
import type { Team } from '../../contract/account.ts';
import { ceilingAnswer } from './ceiling-answer.ts';

/** A team with its members, as the API answers it. */
export async function teamAnswer(
  { teams, users }: Pick<Accounts, 'teams' | 'users'>,
  { id, name, limits = {}, weight = 1, ceiling, createdAt }: TeamRecord,
): Promise<Team> {
  const roles = await teams.membersOf(id);
  const members = await users.findAll([...roles.keys()]);
  return {
    id,
    name,
    limits,
    weight,
    ceiling: ceilingAnswer(ceiling),
    createdAt,
    members: members.map((user) => ({
      id: user.id,
      name: user.name,
      email: user.email,
      role: roles.get(user.id) ?? 'member',
    })),
  };
}
