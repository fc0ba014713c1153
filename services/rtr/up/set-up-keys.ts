import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { redisHosts } from '#shared/accounts/redis/redis-options.ts';
import { createFirstRouterKey } from '#shared/accounts/keys/create-key.ts';
import { maskedKey } from '#shared/accounts/keys/key-record.ts';
import { createLog } from '#shared/core/log.ts';
import { usableRouterKeys } from '../commands/setup.ts';
import { UpError } from './up-error.ts';

/** The keys of a cluster, as its start shows them. */
export interface ClusterKeys {
  /** The raw first router key, when this call made it. */
  newKey: string | undefined;
  /** The usable router keys in their recognisable short form, oldest first. */
  maskedKeys: string[];
  /** The token of a new link for the first administrator, until there is one. */
  adminToken: string | undefined;
}

/**
 * Makes the first router key of the cluster, unless there was one before, and says it the moment it is made: a start that
 * is broken off later must not take it along. Nobody knows of any key yet, so nobody need be told of this one. Until there is
 * an administrator, every call makes a new link for the first one, which replaces that of before.
 * @param ca certificates in PEM that Redis' may be signed by, besides the public ones
 * @throws UpError when Redis does not answer within five seconds
 */
export async function setUpKeys(
  redisUrl: string,
  prefix: string,
  say: (line: string) => void,
  ca?: string,
): Promise<ClusterKeys> {
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  const connection = connectRedis(redisUrl, { log, name: 'rtr-setup', ca });
  try {
    await connection.whenReady(AbortSignal.timeout(5_000)).catch((cause: unknown) => {
      throw new UpError(`Redis does not answer at ${redisHosts(redisUrl)}.`, { cause });
    });
    const { keys, links } = openAccounts(connection.redis, `${prefix}:`);
    const created = await createFirstRouterKey(keys);
    if (created) say(`Your router key: ${created.raw}`);
    return {
      newKey: created?.raw,
      maskedKeys: (await usableRouterKeys(keys)).map(maskedKey),
      adminToken: await links.issueFirstAdmin(),
    };
  } finally {
    connection.close();
  }
}
