import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '../until.ts';
import { startRedisProgram, type RedisProgram } from './start-redis-program.ts';

/** A primary and a replica that three sentinels watch. */
export interface RedisPair {
  primary: RedisProgram;
  replica: RedisProgram;
  /** Names the sentinels, as `REDIS_URL` takes it. */
  url: string;
  stop: () => Promise<void>;
}

/** Starts the pair and waits until all know each other. Its `stop` belongs into `afterAll`. */
export async function startRedisPair(): Promise<RedisPair> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-test-sentinel-'));
  const secret = ['--requirepass', 'pw', '--masterauth', 'pw', '--save', ''];
  const primary = await startRedisProgram(folder, (port) => ['--port', String(port), ...secret]);
  const of = ['--replicaof', `127.0.0.1 ${primary.port}`];
  const replica = await startRedisProgram(folder, (port) => ['--port', String(port), ...secret, ...of]);
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
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    primary,
    replica,
    url: `redis+sentinel://:pw@${hosts}/rtr?sentinel-password=sp`,
    stop: async () => {
      for (const server of [...sentinels, replica, primary]) await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether the replica has all that the primary has. A primary lets new replicas wait for some seconds before it sends it. */
async function replicaFollows(replica: RedisProgram): Promise<boolean> {
  const redis = new Redis({ port: replica.port, password: 'pw', lazyConnect: true });
  await redis.connect();
  const facts = await redis.info('replication');
  redis.disconnect();
  return facts.includes('master_link_status:up');
}

/** Whether every sentinel knows the replica and the other two. */
async function sentinelsAgree(sentinels: readonly RedisProgram[]): Promise<boolean> {
  const seen = await Promise.all(
    sentinels.map(async ({ port }) => {
      const sentinel = new Redis({ port, password: 'sp', lazyConnect: true });
      await sentinel.connect();
      const facts = (await sentinel.call('SENTINEL', 'MASTER', 'rtr')) as string[];
      sentinel.disconnect();
      const fact = (name: string): string | undefined => facts[facts.indexOf(name) + 1];
      return fact('num-slaves') === '1' && fact('num-other-sentinels') === '2';
    }),
  );
  return seen.every(Boolean);
}
