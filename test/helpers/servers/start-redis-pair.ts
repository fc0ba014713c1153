import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '../until.ts';
import { startRedisProgram, type RedisProgram } from './start-redis-program.ts';

/** Folders of the two servers' data, one each. */
export interface RedisPairDisks {
  primary: string;
  replica: string;
  /** A command with arguments that starts a program with access to these folders. */
  enter: readonly string[];
}

/** The append-only file is rewritten before it fills a small disk. */
const appending = ['--appendonly', 'yes', '--auto-aof-rewrite-min-size', '8mb'];

/**
 * Starts the pair and waits until all servers are linked. Call its `stop` in `afterAll`.
 * @param disks disks for the two append-only files; without, nothing is written
 */
export async function startRedisPair(disks?: RedisPairDisks) {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-sentinel-'));
  const secret = ['--requirepass', 'pw', '--masterauth', 'pw', '--save', '', ...(disks ? appending : [])];
  const start = (on: 'primary' | 'replica', further: string[]): Promise<RedisProgram> => {
    const settings = (port: number): string[] => ['--port', String(port), ...secret, ...further];
    return startRedisProgram(disks?.[on] ?? folder, settings, undefined, disks?.enter);
  };
  const primary = await start('primary', []);
  const replica = await start('replica', ['--replicaof', `127.0.0.1 ${primary.port}`]);
  const sentinels: RedisProgram[] = [];
  for (let count = 0; count < 3; count += 1) {
    const sentinel = await startRedisProgram(
      folder,
      () => [],
      (port) => [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${folder}`,
        'requirepass sp',
        'sentinel sentinel-pass sp',
        `sentinel monitor rtr 127.0.0.1 ${primary.port} 2`,
        'sentinel auth-pass rtr pw',
        'sentinel down-after-milliseconds rtr 1000',
        'sentinel failover-timeout rtr 5000',
      ],
    );
    sentinels.push(sentinel);
  }
  await until(() => replicaFollows(replica), 20_000);
  await until(() => sentinelsAgree(sentinels), 20_000);
  const current = async (): Promise<RedisProgram> => {
    const ports = await Promise.all(sentinels.map(async (sentinel) => (await factsOf(sentinel)).get('port')));
    if (new Set(ports).size !== 1) throw new Error(`sentinels name several primaries: ${ports.join(', ')}`);
    return ports[0] === String(replica.port) ? replica : primary;
  };
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    primary,
    replica,
    /** Address of the sentinels in the form of `REDIS_URL`. */
    url: `redis+sentinel://:pw@${hosts}/rtr?sentinel-password=sp`,
    /** Returns the server that sentinels name as the primary now. */
    current,
    /** Waits until the other server follows the current primary, and sentinels would promote it. */
    whole: (ms = 60_000) =>
      until(async () => {
        const other = (await current()) === primary ? replica : primary;
        return (await replicaFollows(other)) && (await sentinelsAgree(sentinels));
      }, ms),
    stop: async () => {
      for (const server of [...sentinels, replica, primary]) await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A primary and a replica under three sentinels. */
export type RedisPair = Awaited<ReturnType<typeof startRedisPair>>;

/** Whether the replica has all data of the primary. A primary lets new replicas wait for some seconds before it sends the data. */
async function replicaFollows({ port }: RedisProgram): Promise<boolean> {
  const facts = await ask(port, 'pw', (redis) => redis.info('replication'));
  return facts.includes('master_link_status:up');
}

/** Whether every sentinel lists the replica and the other two sentinels, and sees both servers. */
async function sentinelsAgree(sentinels: readonly RedisProgram[]): Promise<boolean> {
  const seen = await Promise.all(
    sentinels.map(async (sentinel) => {
      const facts = await factsOf(sentinel);
      const replicas = await ask(sentinel.port, 'sp', (redis) => redis.call('SENTINEL', 'REPLICAS', 'rtr'));
      const [replica = []] = replicas as string[][];
      return (
        facts.get('num-slaves') === '1' &&
        facts.get('num-other-sentinels') === '2' &&
        facts.get('flags') === 'master' &&
        replica[replica.indexOf('flags') + 1] === 'slave'
      );
    }),
  );
  return seen.every(Boolean);
}

/** Returns a sentinel's facts about the primary. */
async function factsOf({ port }: RedisProgram): Promise<Map<string, string>> {
  const list = (await ask(port, 'sp', (redis) => redis.call('SENTINEL', 'MASTER', 'rtr'))) as string[];
  return new Map(list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? '']] : [])));
}

/** Runs a query on a server over a connection of its own. */
async function ask<T>(port: number, password: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ port, password, lazyConnect: true, retryStrategy: () => null, commandTimeout: 1_000 });
  // A failure is reported by the query.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}
