import { uniqueName } from '../unique-name.ts';
import type { ConsoleClient } from './console-client.ts';
import { newAdministrator, newEmail } from './new-administrator.ts';
import { inviteToConsole } from './open-as.ts';

/** An administrator, and a person who owns a team. */
export interface TeamOwner {
  ada: ConsoleClient;
  bob: ConsoleClient;
  bobId: string;
  teamId: string;
}

/** Creates both in a cluster that other files also use. */
export async function newTeamOwner(cluster: Parameters<typeof newAdministrator>[0]): Promise<TeamOwner> {
  const { client: ada } = await newAdministrator(cluster);
  const { client: bob, id: bobId } = await inviteToConsole({ client: ada }, 'Bob', { email: newEmail('Bob') });
  const teamId = String((await ada.post('/teams', { name: uniqueName('Blue') })).body.id);
  await ada.put(`/teams/${teamId}/members/${bobId}`, { role: 'owner' });
  return { ada, bob, bobId, teamId };
}
