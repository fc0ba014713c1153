import type { Accounts } from '#shared/accounts/accounts.ts';
import { createKey } from '#shared/accounts/keys/create-key.ts';

/** Creates a router key and a team, which own the data stored for them until they are gone. */
export async function makeOwners({ keys, teams, deleteTeam }: Pick<Accounts, 'keys' | 'teams' | 'deleteTeam'>) {
  const { record: key } = await createKey(keys, { kind: 'router', name: 'Key', class: 'normal' });
  const team = await teams.create('Team');
  return {
    key,
    team,
    end: async (): Promise<void> => {
      await keys.revoke(key.id, 1);
      await deleteTeam(team.id);
    },
  };
}
