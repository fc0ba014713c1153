import { foldTeamName } from '#shared/accounts/people/team-store.ts';
import { buildPath } from '../admin-client.ts';
import type { Team } from '../../../../console/contract/people.ts';
import { formatUnconfirmed } from '../find-party.ts';
import type { Access } from './access-schema.ts';
import {
  joinPlans,
  emptyPlan,
  planChange,
  type Change,
  type ChangeContext,
  type Plan,
  type PresentAccess,
} from './change.ts';
import { pickChangedFields, findDifferences } from './find-differences.ts';
import type { AccessFile } from './read-access.ts';
import { requireUnchangedFields, requireUnchanged } from './require-unchanged.ts';

type WantedTeam = NonNullable<Access['teams']>[string];

/**
 * Plans the changes of teams, without members and keys.
 * @throws RouterError for a name that several teams have, or that the router treats as the name of another team
 */
export function planTeams(file: AccessFile, present: PresentAccess): Plan {
  requireDistinctNames(file, present);
  const {
    access: { teams = {} },
    createError,
  } = file;
  return joinPlans(
    Object.entries(teams).map(([name, { keys: _keys, members: _members, ...wanted }]) => {
      const [current, ...others] = present.teams.get(name) ?? [];
      if (others.length > 0) throw createError(['teams', name], 'several teams have this name: rename them first');
      const fields = findDifferences(current, wanted);
      return planChange({
        does: current ? 'change' : 'create',
        what: `team ${name}`,
        fields,
        make: async (context) => {
          if (current) {
            const path = buildPath`/teams/${current.id}`;
            const ifMatch = await requireUnchanged(context.client, path, fields);
            await context.client.send('PATCH', path, { body: pickChangedFields(wanted, fields), ifMatch });
          } else {
            const { value } = await context.client.send<Team>('PUT', buildPath`/teams-by-name/${name}`, {
              body: wanted,
            });
            context.teams.set(name, value.id);
          }
          return undefined;
        },
      });
    }),
  );
}

/** Refuses names that the router treats as equal, such as names that differ only in case. The router would not create both teams. */
function requireDistinctNames({ access: { teams = {} }, createError }: AccessFile, present: PresentAccess): void {
  const nameInFile = new Map<string, string>();
  const existing = new Map(Array.from(present.teams.keys(), (name) => [foldTeamName(name), name]));
  for (const name of Object.keys(teams)) {
    const folded = foldTeamName(name);
    const [otherName, existingName] = [nameInFile.get(folded), existing.get(folded)];
    if (otherName !== undefined)
      throw createError(['teams', name], `counts as the same name as ${otherName}, which the file names too`);
    if (existingName !== undefined && !present.teams.has(name))
      throw createError(
        ['teams', name],
        `counts as the same name as ${existingName}, a team that exists: write the name like that`,
      );
    nameInFile.set(folded, name);
  }
}

/**
 * Plans the changes of members of teams.
 * @param prune whether to remove members that the file does not list, from teams for which the file lists members
 * @throws RouterError for a member who has no account
 */
export function planMembers(file: AccessFile, present: PresentAccess, prune: boolean): Plan {
  const { teams = {} } = file.access;
  return joinPlans(
    Object.entries(teams).flatMap(([name, wanted]) => {
      const current = present.teams.get(name)?.[0]?.members ?? [];
      const added = Object.entries(wanted.members ?? {}).map(([memberEmail, role]) => {
        const email = memberEmail.toLowerCase();
        const isKnown = present.people.has(email) || file.access.people?.[email] !== undefined;
        if (!isKnown)
          throw file.createError(['teams', name, 'members', memberEmail], 'nobody has this address: add it to people');
        const person = present.people.get(email);
        if (person && !person.emailConfirmed)
          throw file.createError(['teams', name, 'members', memberEmail], formatUnconfirmed(person));
        const member = current.find((member) => member.email === email);
        return planChange({
          does: member ? 'change' : 'create',
          what: `member ${email} of team ${name}`,
          fields: findDifferences(member, { role }),
          make: (context) => (member ? setRole(context, name, member, role) : addMember(context, name, email, role)),
        });
      });
      return [...added, ...(prune ? [planRemovals(name, wanted, current)] : [])];
    }),
  );
}

function planRemovals(name: string, { members }: WantedTeam, current: Team['members']): Plan {
  if (!members) return emptyPlan;
  const listedEmails = new Set(Object.keys(members).map((email) => email.toLowerCase()));
  const changes = current
    .filter(({ email }) => !listedEmails.has(email))
    .map(({ id, email, role }): Change => ({
      does: 'remove',
      what: `member ${email} of team ${name}`,
      fields: [{ field: 'role', before: role, after: undefined }],
      make: async ({ client, teams }) => {
        await client.send('DELETE', buildPath`/teams/${teams.get(name) ?? ''}/members/${id}`);
        return undefined;
      },
    }));
  return { ...emptyPlan, changes };
}

async function setRole(
  { client, teams }: ChangeContext,
  name: string,
  { id, role: before }: Team['members'][number],
  role: string,
): Promise<undefined> {
  const { members } = await client.get<Team>(buildPath`/teams/${teams.get(name) ?? ''}`);
  requireUnchangedFields(
    members.find((member) => member.id === id),
    [{ field: 'role', before, after: role }],
  );
  await client.send('PUT', buildPath`/teams/${teams.get(name) ?? ''}/members/${id}`, { body: { role } });
  return undefined;
}

async function addMember(
  { client, teams }: ChangeContext,
  name: string,
  email: string,
  role: string,
): Promise<undefined> {
  await client.send('POST', buildPath`/teams/${teams.get(name) ?? ''}/members`, { body: { email, role } });
  return undefined;
}
