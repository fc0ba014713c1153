import { z } from 'zod';
import { teamRoles, type TeamRecord, type TeamRole } from '#shared/accounts/people/team-store.ts';
import { emailSchema, type UserRecord } from '#shared/accounts/people/user.ts';
import { teamSchema, type Team } from '../../contract/people.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { announceChange, type ApiParts } from '../api-parts.ts';
import { operation, type Operation } from '../operations/operation.ts';
import { requireConfirmedEmail } from './change-profile.ts';
import { toTeamAnswer } from './people-answers.ts';
import { auditTeam, findTeam } from './find-party.ts';

const membership = z.strictObject({ role: z.enum(teamRoles).describe('The role in the team') });
const addition = z.strictObject({
  role: z.enum(teamRoles).default('member').describe('The role in the team'),
  email: emailSchema,
});

export function teamMemberOperations(parts: ApiParts): Operation[] {
  const { accounts, recordings } = parts;
  const { teams, users } = accounts;
  const memberRoute = { path: '/teams/{id}/members/{user}', subject: 'teams', scopes: [] } as const;
  return [
    operation({
      ...memberRoute,
      method: 'put',
      id: 'setTeamMember',
      summary: 'Gives a person a role in a team.',
      command: 'teams members set',
      form: { references: { user: 'member' }, done: '{user} is in team {team}, as {role}.' },
      body: membership,
      answer: teamSchema,
      handle: async ({ actor, params: { id, user }, body: { role } }) => {
        const team = await findTeam(parts, 'team.members', actor, id);
        return setMember(actor, team, await users.find(user), role);
      },
    }),
    operation({
      method: 'post',
      path: '/teams/{id}/members',
      id: 'addTeamMember',
      subject: 'teams',
      summary:
        'Adds the person with an address to a team. Somebody who is in the team already keeps their role; a request for another role is refused (409 `already_member`).',
      scopes: [],
      command: 'teams members add',
      form: { arguments: ['email'], done: '{email} is in team {team}, as {role}.' },
      body: addition,
      answer: teamSchema,
      handle: async ({ actor, params: { id }, body: { email, role } }) => {
        const team = await findTeam(parts, 'team.members', actor, id);
        const user = await users.findByEmail(email);
        if (!user) throw noAccountFailure();
        requireConfirmedEmail(user);
        return setMember(actor, team, user, role, true);
      },
    }),
    operation({
      ...memberRoute,
      method: 'delete',
      id: 'removeTeamMember',
      summary: 'Removes a person from a team.',
      command: 'teams members remove',
      form: { references: { user: 'member' }, done: '{user} is not in team {team} any more.' },
      answer: teamSchema,
      handle: async ({ actor, params }) => {
        const team = await findTeam(parts, 'team.members', actor, params.id);
        const id = params.user;
        const wasMember = await announceChange(parts, `user:${id}`, () => teams.removeMember(team.id, id));
        if (!wasMember) throw notFound();
        const name = (await users.readNames([id])).get(id) ?? '';
        await auditTeam(parts, actor, team, 'team.member.remove', { user: { id, name } });
        return toTeamAnswer(accounts, team, recordings.isOn);
      },
    }),
  ];

  /**
   * Gives a person a role in a team.
   * @param onlyNew whether to leave the role of a person who is in the team already
   * @throws ApiFailure 404 if the person or the team does not exist; with `onlyNew`, 409 if the person has another role in the team already
   */
  async function setMember(
    actor: Actor,
    team: TeamRecord,
    user: UserRecord | undefined,
    role: TeamRole,
    onlyNew = false,
  ): Promise<Team> {
    const before = user ? await teams.setMember(team.id, user.id, role, { onlyNew }) : 'unknown';
    if (!user || before === 'unknown') throw notFound();
    if (onlyNew && before !== undefined) {
      if (before !== role) throw isMemberFailure(user, before);
      return toTeamAnswer(accounts, team, recordings.isOn);
    }
    const action = before === undefined ? 'team.member.add' : 'team.member.change';
    await auditTeam(parts, actor, team, action, {
      user: { id: user.id, name: user.name },
      before: before ?? null,
      after: role,
    });
    return toTeamAnswer(accounts, team, recordings.isOn);
  }
}

function isMemberFailure({ name }: UserRecord, role: TeamRole): ApiFailure {
  const message = `${name} is in this team already, as ${role}. Change the role of the member instead.`;
  return new ApiFailure(409, 'already_member', message, { field: 'role' });
}

function noAccountFailure(): ApiFailure {
  const message = 'Nobody has an account with this address. Ask an administrator to invite them.';
  return new ApiFailure(404, 'no_account', message, { field: 'email' });
}
