import type { Cluster } from '../cluster/start-cluster.ts';
import { ConsoleClient } from './console-client.ts';
import { goodPassword } from './good-password.ts';
import { joinConsole, type KnownPerson } from './open-as.ts';
import { firstLinkToken } from './start-console.ts';

/** Signs in the first administrator of a cluster, Ada, `ada@example.com`, with `goodPassword`, and creates the account if there is none. */
export async function firstAdministrator({
  url,
  prefix,
  redisUrl,
}: Pick<Cluster, 'url' | 'prefix'> & { redisUrl?: string }): Promise<KnownPerson> {
  const client = new ConsoleClient(url);
  const token = await firstLinkToken(prefix, redisUrl);
  if (token !== undefined) return joinConsole(client, `/link/${token}`, 'Ada');
  const { status, body } = await client.signIn('ada@example.com', goodPassword);
  if (status !== 200) throw new Error(`Ada cannot sign in: ${JSON.stringify(body)}`);
  return { client, id: String(body.user.id), name: 'Ada', email: 'ada@example.com' };
}
