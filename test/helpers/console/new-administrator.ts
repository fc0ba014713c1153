import type { Cluster } from '../cluster/start-cluster.ts';
import { adminCommandsOf } from '../rtr/admin-commands.ts';
import { uniqueName } from '../unique-name.ts';
import { ConsoleClient } from './console-client.ts';
import { joinConsole, type SignedInPerson } from './open-as.ts';

export function newEmail(name: string): string {
  return `${uniqueName(name.toLowerCase())}@example.com`;
}

/** Creates an administrator of a cluster that may have others, with `goodPassword`, signed in. */
export async function newAdministrator(
  cluster: Pick<Cluster, 'url' | 'prefix'>,
  name = 'Ada',
): Promise<SignedInPerson & { email: string }> {
  const email = newEmail(name);
  const { link } = await adminCommandsOf(cluster).json('invitations', 'create', email, '--role', 'admin');
  return { ...(await joinConsole(new ConsoleClient(cluster.url), String(link), name, email)), email };
}
