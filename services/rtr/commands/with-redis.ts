import { connectRedis, type RedisConnection } from '#shared/store/redis/connect-redis.ts';
import { listRedisHosts } from '#shared/store/redis/redis-options.ts';
import { readCertificates } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import { UpError } from '../up/up-error.ts';

export interface RedisAccess {
  REDIS_URL: string;
  REDIS_CA?: string | undefined;
  log: Logger;
}

/**
 * Runs a command with a connection to Redis.
 * @throws UpError if Redis does not answer within five seconds
 */
export async function withRedis(
  { REDIS_URL, REDIS_CA, log }: RedisAccess,
  command: (redis: RedisConnection['redis']) => Promise<unknown>,
): Promise<void> {
  const connection = connectRedis(REDIS_URL, { log, name: 'rtr', ca: readCertificates('REDIS_CA', REDIS_CA) });
  let refusalMessage: string | undefined;
  connection.redis.on('error', ({ message }: Error) => {
    if (/WRONGPASS|NOAUTH|NOPERM/.test(message)) refusalMessage = message;
  });
  try {
    await connection.whenReady(AbortSignal.timeout(5_000)).catch((cause: unknown) => {
      if (refusalMessage !== undefined)
        throw new UpError(`Redis at ${listRedisHosts(REDIS_URL)} refuses the user or the password of REDIS_URL.`, {
          cause,
        });
      throw new UpError(`Redis does not answer at ${listRedisHosts(REDIS_URL)}: is the cluster running?`, { cause });
    });
    await command(connection.redis);
  } finally {
    connection.close();
  }
}
