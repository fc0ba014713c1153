import type { AdminClient } from '../admin-client.ts';
import type { Key } from '../../../../console/contract/keys.ts';
import type { User, Settings, Team } from '../../../../console/contract/people.ts';
import type { Price } from '../../../../console/contract/usage.ts';
import type { Access } from './access-schema.ts';
import { joinPlans, emptyPlan, planChange, type Plan, type PresentAccess } from './change.ts';
import { pickChangedFields, findDifferences } from './find-differences.ts';
import { planKeys } from './plan-keys.ts';
import { planPeople } from './plan-people.ts';
import { planPrices } from './plan-prices.ts';
import { planMembers, planTeams } from './plan-teams.ts';
import type { AccessFile } from './read-access.ts';
import { requireAdministrator } from './require-rights.ts';
import { requireUnchanged } from './require-unchanged.ts';

/** Reads the current state of the objects that the file can change. Reads prices and settings only if the file contains any. */
export async function readPresent(client: AdminClient, { settings, prices }: Access): Promise<PresentAccess> {
  const [people, teams, keys] = await Promise.all([
    client.listAll<User>('/users'),
    client.listAll<Team>('/teams'),
    client.listAll<Key>('/keys'),
  ]);
  const currentPrices = prices ? await client.listAll<Price>('/prices') : [];
  return {
    people: new Map(people.map((person) => [person.email, person])),
    teams: Map.groupBy(teams, ({ name }) => name),
    keys,
    prices: new Map(currentPrices.map((price) => [price.model, price])),
    settings: settings && (await client.get<Settings>('/settings')),
  };
}

/**
 * Plans the changes that make the router's objects match the file, in an order in which they can be made.
 * @param prune whether to also remove the team members and prices that the file does not name
 */
export function planAccess(file: AccessFile, present: PresentAccess, prune: boolean): Plan {
  const { access } = file;
  requireAdministrator(file, present);
  return joinPlans([
    planSettings(access, present),
    planPeople(file, present),
    planTeams(file, present),
    planMembers(file, present, prune),
    planKeys(file, present),
    planPrices(access, present, prune),
  ]);
}

function planSettings({ settings }: Access, present: PresentAccess): Plan {
  if (!settings || !present.settings) return emptyPlan;
  const { newMembers, ...others } = settings;
  const wanted = { ...others, ...(newMembers && { newMembers: { ...present.settings.newMembers, ...newMembers } }) };
  const fields = findDifferences(present.settings, wanted);
  return planChange({
    does: 'change',
    what: 'settings',
    fields,
    make: async ({ client }) => {
      await requireUnchanged(client, '/settings', fields);
      await client.send('PATCH', '/settings', { body: pickChangedFields(wanted, fields) });
      return undefined;
    },
  });
}
