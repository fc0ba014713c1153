import type { Redis } from 'ioredis';
import { accountNames } from '../redis/account-names.ts';
import { callRedis } from '../redis/call-redis.ts';

/**
 * Returns the secrets of a cluster for a program outside it, newest first: the secrets that the operator sets, or else the secret that the
 * cluster stores in Redis. The list is empty if there is no secret: the nodes use secrets that are not set here, or have never run.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function readClusterSecret(
  redis: Redis,
  prefix: string,
  operatorSecrets: readonly Buffer[] | undefined,
): Promise<readonly Buffer[]> {
  if (operatorSecrets) return operatorSecrets;
  const storedSecret = await callRedis(redis.get(accountNames(prefix).clusterSecret));
  return storedSecret === null ? [] : [Buffer.from(storedSecret, 'base64url')];
}
