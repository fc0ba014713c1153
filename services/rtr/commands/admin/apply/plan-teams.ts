import { foldTeamName } from '#shared/accounts/people/team-store.ts';
import { pathOf } from '../admin-client.ts';
import type { Team } from '../admin-answers.ts';
import { unconfirmedMessage } from '../find-party.ts';
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
    mistake,
  } = file;
  return joinPlans(
    Object.entries(teams).map(([name, { keys: _keys, members: _members, ...wanted }]) => {
      const [current, ...others] = present.teams.get(name) ?? [];
      if (others.length > 0) throw mistake(['teams', name], 'several teams have this name: give them others first');
      const fields = findDifferences(current, wanted);
      return planChange({
        does: current ? 'change' : 'create',
        what: `team ${name}`,
        fields,
        make: async (maker) => {
          if (current) {
            const path = pathOf`/teams/${current.id}`;
            const ifMatch = await requireUnchanged(maker.client, path, fields);
            await maker.client.send('PATCH', path, { body: pickChangedFields(wanted, fields), ifMatch });
          } else {
            const { value } = await maker.client.send<Team>('PUT', pathOf`/teams-by-name/${name}`, { body: wanted });
            maker.teams.set(name, value.id);
          }
          return undefined;
        },
      });
    }),
  );
}

/** Refuses names that differ only in letters which the router treats as equal, because it does not create two teams with such names. */
function requireDistinctNames({ access: { teams = {} }, mistake }: AccessFile, present: PresentAccess): void {
  const named = new Map<string, string>();
  const existing = new Map(Array.from(present.teams.keys(), (name) => [foldTeamName(name), name]));
  for (const name of Object.keys(teams)) {
    const folded = foldTeamName(name);
    const [other, found] = [named.get(folded), existing.get(folded)];
    if (other !== undefined)
      throw mistake(['teams', name], `is to the router the same name as ${other}, which is named too`);
    if (found !== undefined && !present.teams.has(name))
      throw mistake(
        ['teams', name],
        `is to the router the same name as ${found}, a team that exists: write it like that`,
      );
    named.set(folded, name);
  }
}

/**
 * Plans the changes of members of teams.
 * @param prune whether to remove the members that the file does not name, from teams for which it has a list of members
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
          throw file.mistake(['teams', name, 'members', memberEmail], 'nobody has this address: add it to people');
        const person = present.people.get(email);
        if (person && !person.emailConfirmed)
          throw file.mistake(['teams', name, 'members', memberEmail], unconfirmedMessage(person));
        const member = current.find((each) => each.email === email);
        return planChange({
          does: member ? 'change' : 'create',
          what: `member ${email} of team ${name}`,
          fields: findDifferences(member, { role }),
          make: (maker) => (member ? setRole(maker, name, member, role) : addMember(maker, name, email, role)),
        });
      });
      return [...added, ...(prune ? [planRemovals(name, wanted, current)] : [])];
    }),
  );
}

function planRemovals(name: string, { members }: WantedTeam, current: Team['members']): Plan {
  if (!members) return emptyPlan;
  const named = new Set(Object.keys(members).map((email) => email.toLowerCase()));
  const changes = current
    .filter(({ email }) => !named.has(email))
    .map(({ id, email, role }): Change => ({
      does: 'remove',
      what: `member ${email} of team ${name}`,
      fields: [{ field: 'role', before: role, after: undefined }],
      make: async ({ client, teams }) => {
        await client.send('DELETE', pathOf`/teams/${teams.get(name) ?? ''}/members/${id}`);
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
  const { members } = await client.get<Team>(pathOf`/teams/${teams.get(name) ?? ''}`);
  requireUnchangedFields(
    members.find((member) => member.id === id),
    [{ field: 'role', before, after: role }],
  );
  await client.send('PUT', pathOf`/teams/${teams.get(name) ?? ''}/members/${id}`, { body: { role } });
  return undefined;
}

async function addMember(
  { client, teams }: ChangeContext,
  name: string,
  email: string,
  role: string,
): Promise<undefined> {
  await client.send('POST', pathOf`/teams/${teams.get(name) ?? ''}/members`, { body: { email, role } });
  return undefined;
}
