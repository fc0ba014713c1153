import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { createLog } from '#shared/core/log.ts';
import { pagesAreBuilt } from '#services/console/build/pages-stamp.ts';
import { timeStart } from '../processes/starts.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../cluster/start-cluster.ts';

/** A cluster whose console is built. */
export interface ConsoleCluster extends Cluster {
  /** Path of the link that creates the first account. */
  firstLink: string;
}

/** Builds the pages if they are not, and starts a cluster with them. Call its `stop` in `afterAll`. */
export async function startConsole(options: ClusterOptions = {}): Promise<ConsoleCluster> {
  await buildConsole();
  const cluster = await startCluster(options);
  try {
    return { ...cluster, firstLink: `/link/${await firstLinkToken(cluster.prefix)}` };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Builds the pages if they are not up to date. A run of all tests has built them before. */
export async function buildConsole(): Promise<void> {
  const root = join(import.meta.dirname, '..', '..', '..');
  if (pagesAreBuilt(root)) return;
  const build = promisify(execFile);
  await timeStart('build', () => build(process.execPath, ['services/console/main.ts'], { cwd: root }));
}

/** The token of a link for the first administrator of a cluster. */
export async function firstLinkToken(prefix: string, redisUrl = inject('redisUrl')): Promise<string> {
  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const connection = connectRedis(redisUrl, { log, name: 'test' });
  try {
    await connection.whenReady(AbortSignal.timeout(5_000));
    const token = await openAccounts(connection.redis, `${prefix}:`).links.issueFirstAdmin();
    if (token === undefined) throw new Error('there is an administrator already');
    return token;
  } finally {
    connection.close();
  }
}
