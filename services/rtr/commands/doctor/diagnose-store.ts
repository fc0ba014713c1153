import { connectRedis, type RedisConnection } from '#shared/store/redis/connect-redis.ts';
import { findWriteRefusal } from '#shared/store/redis/write-watch.ts';
import { listRedisHosts } from '#shared/store/redis/redis-options.ts';
import { StoreMarker } from '#shared/store/redis/store-marker.ts';
import { readCertificates } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { readStoreState } from '../../up/read-health.ts';
import type { Diagnosis } from './diagnosis.ts';

export interface StoreToDiagnose {
  redisUrl: string;
  /** File with further CA certificates. */
  redisCa: string | undefined;
  prefix: string;
  /** Port of this machine's router, which reports whether the store was emptied or replaced. */
  port: number;
}

const subject = 'store';
const connectMs = 3_000;
const remedy = 'set `maxmemory-policy noeviction` in its configuration';

/**
 * Checks whether the account store answers, and what it contains. Also checks whether this machine's router reports that the store was
 * emptied or replaced, and whether Redis refuses writes, or would evict data when it is full.
 */
export async function diagnoseStore({ redisUrl, redisCa, prefix, port }: StoreToDiagnose): Promise<Diagnosis> {
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  const connection = connectRedis(redisUrl, { log, name: 'rtr-doctor', ca: readCertificates('REDIS_CA', redisCa) });
  try {
    await connection.whenReady(AbortSignal.timeout(connectMs));
    const { keys, people } = await new StoreMarker(connection.redis, `${prefix}:`).count();
    const contentText = `${keys} keys, ${people} people`;
    const confirm = 'restore its backup, or confirm it with `rtr store accept`';
    if ((await readStoreState(`http://127.0.0.1:${port}`)) === 'lost')
      return { subject, state: 'missing', detail: `it was emptied or replaced, and holds ${contentText}: ${confirm}` };
    if (keys === 0 && people === 0)
      return { subject, state: 'missing', detail: `it holds no key: run \`rtr setup\`; if it held any, ${confirm}` };
    const refusal = await findWriteRefusal(connection.redis, `${prefix}:`);
    if (refusal !== undefined)
      return { subject, state: 'missing', detail: `Redis refuses writes at ${listRedisHosts(redisUrl)}: ${refusal}` };
    const policy = await readEvictionPolicy(connection.redis);
    if (policy !== undefined && policy !== 'noeviction')
      return { subject, state: 'missing', detail: `it may evict keys, limits and batches (${policy}): ${remedy}` };
    return { subject, state: 'ok', detail: contentText };
  } catch {
    return { subject, state: 'missing', detail: `Redis does not answer at ${listRedisHosts(redisUrl)}` };
  } finally {
    connection.close();
  }
}

/** Returns the eviction policy of Redis; undefined if Redis does not report it. */
async function readEvictionPolicy(redis: RedisConnection['redis']): Promise<string | undefined> {
  // `CONFIG` is not used, because managed servers do not allow it.
  const memory = await redis.info('memory');
  return /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
}
