import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { redisHosts } from '#shared/accounts/redis/redis-options.ts';
import { createFirstRouterKey } from '#shared/accounts/keys/create-key.ts';
import { maskedKey } from '#shared/accounts/keys/key-record.ts';
import { createLog } from '#shared/core/log.ts';
import { usableRouterKeys } from '../commands/setup.ts';
import { UpError } from './up-error.ts';

export interface ClusterKeys {
  /** The raw first router key; undefined unless this call created it. */
  newKey: string | undefined;
  /** The usable router keys in masked form, oldest first. */
  maskedKeys: string[];
  /** Token of a new link for the first administrator; undefined once there is one. */
  adminToken: string | undefined;
}

/**
 * Creates the first router key of the cluster, unless there was one before, and prints it at once, since an interrupted start could not
 * show it again. No ingress has read any key yet, so the key is not announced. Until there is an administrator, every call creates a new
 * link for the first one, which replaces the previous link.
 * @param ca certificate authority (PEM) of Redis' certificate, in addition to the public ones
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
