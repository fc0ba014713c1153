import { Router } from 'express';
import { z } from 'zod';
import type { Accounts } from '#shared/accounts/accounts.ts';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import { ceilingSchema } from '#shared/accounts/people/ceiling.ts';
import { teamRoles, type TeamRecord, type TeamRole } from '#shared/accounts/people/team-store.ts';
import { displayNameSchema, emailSchema, type UserRecord } from '#shared/accounts/people/user.ts';
import type { Team } from '../../contract/account.ts';
import { requireAccess, type Action } from '../access.ts';
import { ApiFailure, notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { signedInOf, type SignedIn } from '../session/signed-in.ts';

const newTeam = z.strictObject({ name: displayNameSchema });
const change = z.strictObject({
  name: displayNameSchema.optional(),
  limits: limitsSchema.optional(),
  weight: weightSchema.optional(),
  ceiling: ceilingSchema.optional(),
});
const membership = z.strictObject({ role: z.enum(teamRoles) });
const addition = membership.extend({ email: emailSchema });

/** The teams that a person may see, and their actions on them. */
export function teamRoutes(parts: ApiParts): Router {
  const { accounts, announce } = parts;
  const { teams, users } = accounts;
  const routes = Router();
  routes.get('/teams', async (_, response) => {
    const person = signedInOf(response);
    const visible = person.role === 'admin' ? await teams.list() : await teams.findAll([...person.teams.keys()]);
    response.json(await Promise.all(visible.map((team) => teamAnswer(accounts, team))));
  });
  routes.post('/teams', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('team.make', person);
    const team = await teams.create(parse(newTeam, request.body).name);
    await note('team.create', person, team, {});
    response.status(201).json(await teamAnswer(accounts, team));
  });
  routes.patch('/teams/:id', async (request, response) => {
    const person = signedInOf(response);
    const before = await find(request.params.id, 'team.rename', person);
    const wanted = parse(change, request.body);
    const owner = { kind: 'team', id: before.id } as const;
    const { name: _, ...administrators } = wanted;
    if (Object.keys(administrators).length > 0) requireAccess('team.limit', person, owner);
    if (!(await teams.change(before.id, wanted))) throw notFound();
    await announce(`team:${before.id}`);
    await note('team.change', person, before, {
      before: {
        name: before.name,
        limits: before.limits ?? {},
        weight: before.weight ?? 1,
        ceiling: before.ceiling ?? {},
      },
      after: wanted,
    });
    response.json(await teamAnswer(accounts, (await teams.find(before.id)) ?? before));
  });
  routes.delete('/teams/:id', async (request, response) => {
    const person = signedInOf(response);
    const team = await find(request.params.id, 'team.delete', person);
    const revokedKeys = await teams.delete(team.id, Date.now());
    await announce(`team:${team.id}`);
    if (revokedKeys === undefined) throw notFound();
    await note('team.delete', person, team, { revokedKeys });
    response.status(204).end();
  });
  routes.put('/teams/:id/members/:user', async (request, response) => {
    const person = signedInOf(response);
    const team = await find(request.params.id, 'team.members', person);
    const { role } = parse(membership, request.body);
    response.json(await admit(person, team, await users.find(request.params.user), role));
  });
  routes.post('/teams/:id/members', async (request, response) => {
    const person = signedInOf(response);
    const team = await find(request.params.id, 'team.members', person);
    const { email, role } = parse(addition, request.body);
    const user = await users.findByEmail(email);
    if (!user) throw noAccount();
    response.json(await admit(person, team, user, role));
  });
  routes.delete('/teams/:id/members/:user', async (request, response) => {
    const person = signedInOf(response);
    const team = await find(request.params.id, 'team.members', person);
    const id = request.params.user;
    if (!(await teams.removeMember(team.id, id))) throw notFound();
    await announce(`user:${id}`);
    const name = (await users.namesOf([id])).get(id) ?? '';
    await note('team.member.remove', person, team, { user: { id, name } });
    response.json(await teamAnswer(accounts, team));
  });
  return routes;

  /** Gives somebody a role in a team. @throws ApiFailure 404 when one of both does not exist */
  async function admit(
    person: SignedIn,
    team: TeamRecord,
    user: UserRecord | undefined,
    role: TeamRole,
  ): Promise<Team> {
    const before = user ? await teams.setMember(team.id, user.id, role) : 'unknown';
    if (!user || before === 'unknown') throw notFound();
    const action = before === undefined ? 'team.member.add' : 'team.member.change';
    await note(action, person, team, { user: { id: user.id, name: user.name }, before: before ?? null, after: role });
    return teamAnswer(accounts, team);
  }

  /** A team that this person may see and act on. @throws ApiFailure 403 or 404 */
  async function find(id: string, action: Action, person: SignedIn): Promise<TeamRecord> {
    requireAccess(action, person, { kind: 'team', id });
    const team = await teams.find(id);
    if (!team) throw notFound();
    return team;
  }

  function note(action: string, person: SignedIn, { id, name }: TeamRecord, details: Record<string, unknown>) {
    return record(parts, person, { action, target: { kind: 'team', id, name }, details });
  }
}

function noAccount(): ApiFailure {
  const message = 'Nobody has an account with this address. Ask an administrator to invite them.';
  return new ApiFailure(404, 'no_account', message, { field: 'email' });
}

async function teamAnswer(
  { teams, users }: Pick<Accounts, 'teams' | 'users'>,
  { id, name, limits = {}, weight = 1, ceiling = {}, createdAt }: TeamRecord,
): Promise<Team> {
  const roles = await teams.membersOf(id);
  const members = await users.findAll([...roles.keys()]);
  return {
    id,
    name,
    limits,
    weight,
    ceiling,
    createdAt,
    members: members.map((user) => ({
      id: user.id,
      name: user.name,
      email: user.email,
      role: roles.get(user.id) ?? 'member',
    })),
  };
}
