import type { Cluster } from '../cluster/start-cluster.ts';
import { ConsoleClient } from './console-client.ts';
import { joinConsole, type SignedInPerson } from './open-as.ts';
import { firstLinkToken } from './start-console.ts';

/** Makes the first administrator of a cluster: Ada, `ada@example.com`, with `goodPassword`, signed in. */
export async function firstAdministrator({
  url,
  prefix,
  redisUrl,
}: Pick<Cluster, 'url' | 'prefix'> & { redisUrl?: string }): Promise<SignedInPerson> {
  return joinConsole(new ConsoleClient(url), `/link/${await firstLinkToken(prefix, redisUrl)}`, 'Ada');
}
