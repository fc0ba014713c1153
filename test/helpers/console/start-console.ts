import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { arePagesBuilt } from '#services/console/build/pages-stamp.ts';
import { useRedis } from '../accounts/use-redis.ts';
import { timeStart } from '../processes/starts.ts';

/** Builds the pages if they are not up to date. A run of all tests has built them before. */
export async function buildConsole(): Promise<void> {
  const root = join(import.meta.dirname, '..', '..', '..');
  if (arePagesBuilt(root)) return;
  const build = promisify(execFile);
  await timeStart('build', () => build(process.execPath, ['services/console/main.ts'], { cwd: root }));
}

/** Returns the token of a link for the first administrator of a cluster, while there is none. */
export function firstLinkToken(prefix: string, redisUrl?: string): Promise<string | undefined> {
  return useRedis((redis) => openAccounts(redis, `${prefix}:`).links.issueFirstAdmin(), redisUrl);
}
