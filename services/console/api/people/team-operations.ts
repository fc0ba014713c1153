import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import { ceilingSchema } from '#shared/accounts/people/ceiling.ts';
import { teamRoles, type TeamRecord, type TeamRole } from '#shared/accounts/people/team-store.ts';
import { displayNameSchema, emailSchema, type UserRecord } from '#shared/accounts/people/user.ts';
import { teamSchema, type Team } from '../../contract/account.ts';
import { requireAccess, type Action } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound, stale } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { changesNothing } from '../operations/changes-nothing.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { pageOf, placeOf } from '../operations/page.ts';
import { parse } from '../parse.ts';
import { ceilingAnswer } from './ceiling-answer.ts';

const settings = {
  limits: limitsSchema.optional(),
  weight: weightSchema.optional(),
  ceiling: ceilingSchema.optional(),
};
const newTeam = z.strictObject({ name: displayNameSchema });
const change = z.strictObject({ name: displayNameSchema.optional(), ...settings });
const membership = z.strictObject({ role: z.enum(teamRoles) });
const addition = membership.extend({ email: emailSchema });

/** The teams that somebody may see, and their actions on them. */
export function teamOperations(parts: ApiParts): Operation[] {
  const { accounts, announce } = parts;
  const { teams, users } = accounts;
  const byId = { path: '/teams/{id}', subject: 'teams' } as const;
  const member = { path: '/teams/{id}/members/{user}', subject: 'teams', scopes: [] } as const;

  return [
    listOperation({
      path: '/teams',
      id: 'listTeams',
      subject: 'teams',
      summary: 'Lists the teams that the person may see: their own; for an administrator, all. Oldest first.',
      scopes: ['read', 'keys'],
      command: 'teams list',
      query: z.object({ name: z.string().max(100).optional().describe('Only the teams of this name.') }),
      item: teamSchema,
      handle: async ({ actor, query: { name } }, page) => {
        const visible = actor.role === 'admin' ? await teams.list() : await teams.findAll([...actor.teams.keys()]);
        const named = name === undefined ? visible : visible.filter((team) => team.name === name);
        const { data, next } = pageOf(named, page, placeOf);
        return { data: await Promise.all(data.map((team) => teamAnswer(accounts, team))), next };
      },
    }),
    operation({
      ...byId,
      method: 'get',
      id: 'getTeam',
      summary: 'Answers a team.',
      scopes: ['read', 'keys'],
      command: 'teams show',
      answer: teamSchema,
      etags: { answers: true },
      handle: async ({ actor, params: { id }, reply }) => answerOf(await find(id, 'team.see', actor), reply),
    }),
    operation({
      method: 'post',
      path: '/teams',
      id: 'createTeam',
      subject: 'teams',
      summary: 'Makes a team without members.',
      scopes: [],
      command: 'teams create',
      body: newTeam,
      answer: teamSchema,
      statuses: [201],
      etags: { answers: true },
      handle: async ({ actor, body: { name }, reply }) => {
        requireAccess('team.make', actor);
        return answerOf(await create(actor, name), reply);
      },
    }),
    operation({
      method: 'put',
      path: '/teams-by-name/{name}',
      id: 'upsertTeam',
      subject: 'teams',
      summary: 'Changes the team of this name, or makes it. What is absent stays as it is.',
      scopes: [],
      command: 'apply',
      body: z.strictObject(settings),
      answer: teamSchema,
      statuses: [200, 201],
      etags: { answers: true },
      handle: async ({ actor, params, body, reply }) => {
        requireAccess('team.make', actor);
        const { name } = readName(params.name);
        return accounts.nameLock.with(`team:${name}`, async () => {
          const [found, ...others] = (await teams.list()).filter((team) => team.name === name);
          if (others.length > 0) throw new ApiFailure(409, 'ambiguous_name', 'Several teams have this name.');
          if (!found) reply.status = 201;
          const team = found ?? (await create(actor, name));
          return answerOf(changesNothing(team, body) ? team : await changed(actor, team, body), reply);
        });
      },
    }),
    operation({
      ...byId,
      method: 'patch',
      id: 'changeTeam',
      summary: 'Changes the name, limits, weight or ceiling of a team. Its owners may change the name.',
      scopes: [],
      command: 'teams set',
      body: change,
      answer: teamSchema,
      etags: { answers: true, takes: true },
      handle: async ({ actor, params: { id }, body, ifRevision, reply }) => {
        const before = await find(id, 'team.rename', actor);
        const { name: _, ...administrators } = body;
        if (Object.keys(administrators).length > 0) requireAccess('team.limit', actor, { kind: 'team', id });
        return answerOf(await changed(actor, before, body, ifRevision), reply);
      },
    }),
    operation({
      ...byId,
      method: 'delete',
      id: 'deleteTeam',
      summary: 'Deletes a team, and revokes its keys.',
      scopes: [],
      command: 'teams delete',
      handle: async ({ actor, params: { id } }) => {
        const team = await find(id, 'team.delete', actor);
        const revokedKeys = await teams.delete(team.id, Date.now());
        await announce(`team:${team.id}`);
        if (revokedKeys === undefined) throw notFound();
        await note('team.delete', actor, team, { revokedKeys });
      },
    }),
    operation({
      ...member,
      method: 'put',
      id: 'setTeamMember',
      summary: 'Gives a person a role in a team.',
      command: 'teams members set',
      body: membership,
      answer: teamSchema,
      handle: async ({ actor, params: { id, user }, body: { role } }) => {
        const team = await find(id, 'team.members', actor);
        return admit(actor, team, await users.find(user), role);
      },
    }),
    operation({
      method: 'post',
      path: '/teams/{id}/members',
      id: 'addTeamMember',
      subject: 'teams',
      summary: 'Gives the person with an address a role in a team.',
      scopes: [],
      command: 'teams members add',
      body: addition,
      answer: teamSchema,
      handle: async ({ actor, params: { id }, body: { email, role } }) => {
        const team = await find(id, 'team.members', actor);
        const user = await users.findByEmail(email);
        if (!user) throw noAccount();
        return admit(actor, team, user, role);
      },
    }),
    operation({
      ...member,
      method: 'delete',
      id: 'removeTeamMember',
      summary: 'Removes a person from a team.',
      command: 'teams members remove',
      answer: teamSchema,
      handle: async ({ actor, params }) => {
        const team = await find(params.id, 'team.members', actor);
        const id = params.user;
        if (!(await teams.removeMember(team.id, id))) throw notFound();
        await announce(`user:${id}`);
        const name = (await users.namesOf([id])).get(id) ?? '';
        await note('team.member.remove', actor, team, { user: { id, name } });
        return teamAnswer(accounts, team);
      },
    }),
  ];

  async function create(actor: Actor, name: string): Promise<TeamRecord> {
    const team = await teams.create(name);
    await note('team.create', actor, team, {});
    return team;
  }

  async function changed(
    actor: Actor,
    before: TeamRecord,
    wanted: z.output<typeof change>,
    ifRevision?: number,
  ): Promise<TeamRecord> {
    const outcome = await teams.change(before.id, wanted, ifRevision);
    if (outcome === 'stale') throw stale();
    if (outcome === 'unknown') throw notFound();
    await announce(`team:${before.id}`);
    await note('team.change', actor, before, {
      before: {
        name: before.name,
        limits: before.limits ?? {},
        weight: before.weight ?? 1,
        ceiling: before.ceiling ?? {},
      },
      after: wanted,
    });
    return (await teams.find(before.id)) ?? before;
  }

  /** Gives somebody a role in a team. @throws ApiFailure 404 when one of both does not exist */
  async function admit(actor: Actor, team: TeamRecord, user: UserRecord | undefined, role: TeamRole): Promise<Team> {
    const before = user ? await teams.setMember(team.id, user.id, role) : 'unknown';
    if (!user || before === 'unknown') throw notFound();
    const action = before === undefined ? 'team.member.add' : 'team.member.change';
    await note(action, actor, team, { user: { id: user.id, name: user.name }, before: before ?? null, after: role });
    return teamAnswer(accounts, team);
  }

  /** A team that somebody may see and act on. @throws ApiFailure 403 or 404 */
  async function find(id: string, action: Action, actor: Actor): Promise<TeamRecord> {
    requireAccess(action, actor, { kind: 'team', id });
    const team = await teams.find(id);
    if (!team) throw notFound();
    return team;
  }

  function answerOf(team: TeamRecord, reply: { revision?: number }): Promise<Team> {
    reply.revision = team.revision ?? 0;
    return teamAnswer(accounts, team);
  }

  function note(action: string, actor: Actor, { id, name }: TeamRecord, details: Record<string, unknown>) {
    return record(parts, actor, { action, target: { kind: 'team', id, name }, details });
  }
}

function readName(text: string): { name: string } {
  return parse(newTeam, { name: text });
}

function noAccount(): ApiFailure {
  const message = 'Nobody has an account with this address. Ask an administrator to invite them.';
  return new ApiFailure(404, 'no_account', message, { field: 'email' });
}

async function teamAnswer(
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
