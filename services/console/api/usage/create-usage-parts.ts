import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import { hasLimits, findLiveKeysByParty, type FoundKey } from '#shared/accounts/keys/key-record.ts';
import { partyNames } from '#shared/accounts/people/party-names.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import type { LimitedParty, UsageParts } from './usage-parts.ts';

/** Creates the dependencies of the usage operations from the accounts. */
export function createUsageParts({
  accounts,
  log,
  ...parts
}: Pick<ApiParts, 'accounts' | 'log'> & Pick<UsageParts, 'usage' | 'refusals' | 'limits' | 'prices'>): UsageParts {
  const { keys, users, teams } = accounts;

  async function listVisibleKeys({ isAdmin, userId, teamIds }: UsageViewer): Promise<FoundKey[]> {
    if (isAdmin) return keys.list();
    return (await Promise.all([userId, ...teamIds].map((owner) => keys.listOfOwner(owner)))).flat();
  }

  return {
    ...parts,
    // Usage is recorded by owner. The viewer therefore needs no ids of keys, and the usage of deleted keys stays visible.
    viewerOf: ({ id, role, teams: memberships }) => {
      return { userId: id, isAdmin: role === 'admin', keyIds: [], teamIds: [...memberships.keys()] };
    },
    namesOf: (parties) => partyNames({ users, teams }, parties),
    listLimitedParties: async (viewer) => {
      const [owned, people, foundTeams] = await Promise.all([
        listVisibleKeys(viewer),
        viewer.isAdmin ? users.list() : users.find(viewer.userId).then((user) => (user ? [user] : [])),
        viewer.isAdmin ? teams.list() : teams.findAll(viewer.teamIds),
      ]);
      const parties = [
        ...[...findLiveKeysByParty(owned, Date.now())].map(([party, key]) => ({ ...key, party, kind: 'key' as const })),
        ...people.map((user) => ({ ...user, party: `user:${user.id}` as const, kind: 'user' as const })),
        ...foundTeams.map((team) => ({ ...team, party: `team:${team.id}` as const, kind: 'team' as const })),
      ];
      return parties.flatMap(({ party, kind, id, name, limits }): LimitedParty[] =>
        hasLimits(limits) ? [{ party, limits, name, shownAs: `${kind}:${id}` }] : [],
      );
    },
    auditPriceChange: (actor, model, { before, after }) =>
      writeAudit({ accounts, log }, actor, {
        action: 'price.change',
        target: { kind: 'price', id: model, name: model },
        details: { before: before ?? null, after: after ?? null },
      }),
  };
}
