import { execFileSync } from 'node:child_process';
import { inject } from 'vitest';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/accounts/connect-redis.ts';
import { createLog } from '#shared/core/log.ts';
import { startCluster, type Cluster, type ClusterOptions } from './start-cluster.ts';

/** A cluster whose console is built. */
export interface ConsoleCluster extends Cluster {
  /** Path of the link with which the first account is made. */
  firstLink: string;
}

/** Builds the pages, if need be, and starts a cluster with them. Its `stop` belongs into `afterAll`. */
export async function startConsole(options: ClusterOptions = {}): Promise<ConsoleCluster> {
  execFileSync(process.execPath, ['services/console/build/main.ts'], { stdio: 'pipe' });
  const cluster = await startCluster(options);
  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const connection = connectRedis(options.redisUrl ?? inject('redisUrl'), { log, name: 'test' });
  try {
    await connection.whenReady(AbortSignal.timeout(5_000));
    const token = await openAccounts(connection.redis, `${cluster.prefix}:`).links.issueFirstAdmin();
    if (token === undefined) throw new Error('there is an administrator already');
    return { ...cluster, firstLink: `/link/${token}` };
  } catch (error) {
    await cluster.stop();
    throw error;
  } finally {
    connection.close();
  }
}
