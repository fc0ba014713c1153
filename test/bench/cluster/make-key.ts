import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { createLog } from '#shared/core/log.ts';

/** Makes a router key for a cluster of the bench. */
export async function makeKey(redisUrl: string, prefix: string): Promise<string> {
  const log = createLog({ service: 'bench', level: 'fatal', format: 'json' });
  const connection = connectRedis(redisUrl, { log, name: 'bench' });
  try {
    await connection.whenReady(AbortSignal.timeout(5_000));
    const store = new KeyStore(connection.redis, `${prefix}:`);
    return (await createKey(store, { kind: 'router', name: 'bench', class: 'normal' })).raw;
  } finally {
    connection.close();
  }
}
