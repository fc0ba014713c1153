import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/store/redis/connect-redis.ts';
import { listRedisHosts } from '#shared/store/redis/redis-options.ts';
import { createFirstRouterKey } from '#shared/accounts/keys/create-key.ts';
import { maskKey } from '#shared/accounts/keys/key-record.ts';
import { createLog } from '#shared/core/log.ts';
import { listUsableRouterKeys } from '../commands/setup.ts';
import { UpError } from './up-error.ts';

export interface ClusterKeys {
  /** The first router key in its raw form; undefined if this call did not create it. */
  newKey: string | undefined;
  /** The usable router keys in masked form, oldest first. */
  maskedKeys: string[];
  /** Token of a new link for the first administrator; undefined if an administrator exists. */
  adminToken: string | undefined;
}

/**
 * Creates the first router key of the cluster, unless there was a router key before. Prints the key at once, because an interrupted
 * start could not show it again. Does not announce the key, because no ingress has read any key yet. Until an administrator exists, every
 * call creates a new link for the first administrator, which replaces the previous link.
 * @param ca certificate authority (PEM) of Redis' certificate, in addition to the public authorities
 * @throws UpError if Redis does not answer within five seconds
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
      throw new UpError(`Redis does not answer at ${listRedisHosts(redisUrl)}.`, { cause });
    });
    const { keys, links } = openAccounts(connection.redis, `${prefix}:`);
    const created = await createFirstRouterKey(keys);
    if (created) say(`Your router key: ${created.rawKey}`);
    return {
      newKey: created?.rawKey,
      maskedKeys: (await listUsableRouterKeys(keys)).map(maskKey),
      adminToken: await links.issueFirstAdmin(),
    };
  } finally {
    connection.close();
  }
}
