import { z } from 'zod';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import { ceilingSchema } from '#shared/accounts/people/ceiling.ts';
import { foldTeamName, type TeamRecord } from '#shared/accounts/people/team-store.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';
import { teamSchema, type Team } from '../../contract/people.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure, notFound, stale } from '../api-failure.ts';
import { announceChange, type ApiParts } from '../api-parts.ts';
import { hasAllValues, requireRevision } from '../operations/if-match.ts';
import { listOperation, operation, type Operation } from '../operations/operation.ts';
import { byCreation, cutPage } from '../operations/page.ts';
import { parse } from '../parse.ts';
import { computeSwitch } from '../recordings/recording-state.ts';
import { toTeamAnswer } from './people-answers.ts';
import { auditTeam, findTeam } from './find-party.ts';

const settings = {
  limits: limitsSchema.optional().describe('The limits of all requests of the team'),
  weight: weightSchema.optional(),
  ceiling: ceilingSchema.optional(),
};
const nameSchema = z.strictObject({ name: displayNameSchema });
const newTeam = nameSchema.extend(settings);
const change = z.strictObject({
  name: displayNameSchema.optional(),
  ...settings,
  records: z
    .boolean()
    .optional()
    .describe('Whether the requests of its keys are recorded. The only setting that owners of the team may change.'),
});

export function teamOperations(parts: ApiParts): Operation[] {
  const { accounts, recordings } = parts;
  const { teams } = accounts;
  const teamRoute = { path: '/teams/{id}', subject: 'teams' } as const;

  return [
    listOperation({
      path: '/teams',
      id: 'listTeams',
      subject: 'teams',
      summary: 'Lists the teams that the person may see: their own; for an administrator, all teams. Oldest first.',
      scopes: ['read', 'keys'],
      command: 'teams list',
      form: {
        columns: ['id', 'members', 'createdAt', 'name'],
        none: 'There are no teams yet. Make one with: rtr teams create <name>',
      },
      query: z.object({ name: z.string().max(100).optional().describe('Lists only the team with exactly this name.') }),
      item: teamSchema,
      handle: async ({ actor, query: { name } }, page) => {
        const visible = actor.role === 'admin' ? await teams.list() : await teams.findAll([...actor.teams.keys()]);
        const named = name === undefined ? visible : visible.filter((team) => team.name === name);
        const { data, next } = cutPage(named, page, byCreation);
        return { data: await Promise.all(data.map((team) => toTeamAnswer(accounts, team, recordings.isOn))), next };
      },
    }),
    operation({
      ...teamRoute,
      method: 'get',
      id: 'getTeam',
      summary: 'Returns a team.',
      scopes: ['read', 'keys'],
      command: 'teams show',
      answer: teamSchema,
      etags: { answers: true },
      handle: async ({ actor, params: { id }, reply }) => toAnswer(await findTeam(parts, 'team.see', actor, id), reply),
    }),
    operation({
      method: 'post',
      path: '/teams',
      id: 'createTeam',
      subject: 'teams',
      summary: 'Makes a team without members. No other team may have the name, even in another case.',
      scopes: [],
      command: 'teams create',
      form: { arguments: ['name'], done: 'Team {name} has the id {id}.' },
      body: newTeam,
      answer: teamSchema,
      statuses: [201],
      etags: { answers: true },
      handle: async ({ actor, body: { name, ...wanted }, reply }) => {
        requireAccess('team.make', actor);
        const team = await runLocked(name, async () => setValues(actor, await create(actor, name), wanted));
        return toAnswer(team, reply);
      },
    }),
    operation({
      method: 'put',
      path: '/teams-by-name/{name}',
      id: 'upsertTeam',
      subject: 'teams',
      summary: 'Changes the team with this name, or makes a team. Absent settings stay as they are.',
      scopes: [],
      command: 'apply',
      body: z.strictObject(settings),
      answer: teamSchema,
      statuses: [200, 201],
      etags: { answers: true, takes: true },
      handle: async ({ actor, params, body, ifRevision, request, reply }) => {
        requireAccess('team.make', actor);
        const { name } = parseName(params.name);
        return runLocked(name, async () => {
          const [found, ...others] = (await teams.list()).filter((team) => team.name === name);
          if (others.length > 0) throw new ApiFailure(409, 'ambiguous_name', 'Several teams have this name.');
          requireRevision(found, { request, ifRevision });
          if (!found) reply.status = 201;
          const team = found ?? (await create(actor, name));
          return toAnswer(await setValues(actor, team, body, ifRevision), reply);
        });
      },
    }),
    operation({
      ...teamRoute,
      method: 'patch',
      id: 'changeTeam',
      summary:
        'Changes the name, limits, weight, ceiling or recording of a team. No other team may have the name, even in another case.',
      scopes: [],
      command: 'teams set',
      form: { example: 'teams set Research --limit cost-per-month=500 --ceiling-tiers gpu,cloud' },
      body: change,
      answer: teamSchema,
      etags: { answers: true, takes: true },
      handle: async ({ actor, params: { id }, body, ifRevision, reply }) => {
        const before = await findTeam(parts, changesRecordingOnly(body) ? 'team.record' : 'team.change', actor, id);
        const { name = before.name } = body;
        const makeChange = () => changeTeam(actor, before, body, ifRevision);
        // A change without a new name needs no lock.
        if (name === before.name) return toAnswer(await makeChange(), reply);
        const renamed = await runLocked(name, async () => {
          await requireFreeName(name, before.id);
          return makeChange();
        });
        return toAnswer(renamed, reply);
      },
    }),
    operation({
      ...teamRoute,
      method: 'delete',
      id: 'deleteTeam',
      summary: 'Deletes a team, and revokes its keys.',
      scopes: [],
      command: 'teams delete',
      form: { done: 'Team {team} is deleted, and its keys are revoked.' },
      handle: async ({ actor, params: { id } }) => {
        const team = await findTeam(parts, 'team.delete', actor, id);
        const revokedKeys = await announceChange(parts, `team:${team.id}`, () => accounts.deleteTeam(team.id));
        if (revokedKeys === undefined) throw notFound();
        await auditTeam(parts, actor, team, 'team.delete', { revokedKeys });
      },
    }),
  ];

  /** Runs `work` while no other request can give a team this name. */
  function runLocked<T>(name: string, work: () => Promise<T>): Promise<T> {
    return accounts.nameLock.runLocked(`team:${foldTeamName(name)}`, work);
  }

  /**
   * Refuses a name that another team has.
   * @param id the id of the team that is to have the name; undefined for a new team
   * @throws ApiFailure 409
   */
  async function requireFreeName(name: string, id?: string): Promise<void> {
    const folded = foldTeamName(name);
    const others = (await teams.list()).filter((team) => team.id !== id);
    if (others.some((team) => foldTeamName(team.name) === folded)) {
      throw new ApiFailure(409, 'name_taken', 'There is a team of this name already.', { field: 'name' });
    }
  }

  async function create(actor: Actor, name: string): Promise<TeamRecord> {
    await requireFreeName(name);
    const team = await teams.create(name);
    await auditTeam(parts, actor, team, 'team.create');
    return team;
  }

  /** Changes a team, unless it has all these values already. */
  async function setValues(
    actor: Actor,
    team: TeamRecord,
    values: z.output<typeof change>,
    ifRevision?: number,
  ): Promise<TeamRecord> {
    return hasAllValues(team, values) ? team : changeTeam(actor, team, values, ifRevision);
  }

  async function changeTeam(
    actor: Actor,
    before: TeamRecord,
    { records, ...wanted }: z.output<typeof change>,
    ifRevision?: number,
  ): Promise<TeamRecord> {
    const recordingChange =
      records === undefined ? {} : { records: computeSwitch(before.records, records, actor, recordings.isOn) };
    const outcome = await announceChange(parts, `team:${before.id}`, () =>
      teams.change(before.id, { ...wanted, ...recordingChange }, ifRevision),
    );
    if (outcome === 'stale') throw stale();
    if (outcome === 'unknown') throw notFound();
    await auditTeam(parts, actor, before, 'team.change', {
      before: {
        name: before.name,
        limits: before.limits ?? {},
        weight: before.weight ?? 1,
        ceiling: before.ceiling ?? {},
        ...(records !== undefined && { records: Boolean(before.records) }),
      },
      after: { ...wanted, ...(records !== undefined && { records }) },
    });
    return (await teams.find(before.id)) ?? before;
  }

  function toAnswer(team: TeamRecord, reply: { revision?: number }): Promise<Team> {
    reply.revision = team.revision ?? 0;
    return toTeamAnswer(accounts, team, recordings.isOn);
  }
}

/** Returns whether a change concerns only the recording of requests. */
function changesRecordingOnly(wanted: z.output<typeof change>): boolean {
  return Object.keys(wanted).every((name) => name === 'records') && wanted.records !== undefined;
}

function parseName(text: string): { name: string } {
  return parse(nameSchema, { name: text });
}
