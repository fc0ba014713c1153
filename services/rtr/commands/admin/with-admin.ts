import { readFileSync } from 'node:fs';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { redisHosts } from '#shared/accounts/redis/redis-options.ts';
import { createLog } from '#shared/core/log.ts';
import type { AdminConfig } from '../../config.ts';
import { clusterAddresses, isLoopback, isSameRouter, ownRouter } from '../../up/cluster-addresses.ts';
import { UpError } from '../../up/up-error.ts';
import { localFileError } from '../client/client-context.ts';
import { withRedis } from '../with-redis.ts';
import { AdminClient } from './admin-client.ts';
import type { AdminContext, AdminOptions } from './admin-context.ts';
import { CommandLineToken } from './command-line-token.ts';

export interface AdminCommandParts extends Omit<AdminContext, 'client' | 'json'> {
  config: AdminConfig;
  options: AdminOptions;
  /** Of the cluster that `rtr up` runs, if it does. */
  folder: string;
}

/**
 * Runs a command that speaks to the Admin API: with the admin token that the user gives, else, where the account store can be reached,
 * with one that is made for this command and removed at its end.
 * @throws UpError without a token and a store, or for an address that is none
 */
export async function withAdmin(
  { config, options, folder, ...others }: AdminCommandParts,
  command: (context: AdminContext) => Promise<unknown>,
): Promise<void> {
  const url = namedRouter(config, options) ?? ownRouter(config, folder).url;
  const json = options.json ?? false;
  const given = givenToken(config, options);
  if (given !== undefined) {
    const client = new AdminClient({ url, token: () => Promise.resolve(given), unknownToken: refusedToken(url) });
    await command({ client, json, ...others });
    return;
  }
  requireOwn(url, config, folder);
  const { REDIS_URL } = storeAddress(config, folder);
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  await withRedis({ REDIS_URL, REDIS_CA: config.REDIS_CA, log }, async (redis) => {
    const token = new CommandLineToken(openAccounts(redis, `${config.RTR_PREFIX}:`).adminTokens);
    const unknownToken =
      `The router at ${url} does not use the account store at ${redisHosts(REDIS_URL)}, in which rtr makes a token ` +
      'for each command: set RTR_ADMIN_TOKEN to an admin token of the router.';
    const client = new AdminClient({ url, token: () => token.current(), unknownToken });
    try {
      await command({ client, json, ...others });
    } finally {
      await token.remove();
    }
  });
}

/** The admin token that the user gives; undefined for none. @throws RouterError for a file that cannot be read */
export function givenToken(
  config: Pick<AdminConfig, 'RTR_ADMIN_TOKEN'>,
  { tokenFile }: AdminOptions,
): string | undefined {
  if (tokenFile === undefined) return config.RTR_ADMIN_TOKEN;
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw localFileError(tokenFile, error);
  }
}

/** The router that the user names; undefined for none. @throws UpError for an address that is none */
export function namedRouter(config: Pick<AdminConfig, 'RTR_URL'>, { router }: AdminOptions): string | undefined {
  const url = router ?? config.RTR_URL;
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url;
  throw new UpError(`${url} is no http or https address.`);
}

/**
 * A token of an account store goes to the router of this machine alone, or to one beside it whose store the settings name: another one
 * could use it against the store. @throws UpError for another router
 */
function requireOwn(url: string, config: AdminConfig, folder: string): void {
  const isHere = isSameRouter(url, ownRouter(config, folder).url);
  if (isHere || (config.REDIS_URL !== undefined && isLoopback(url))) return;
  throw new UpError(
    `Set RTR_ADMIN_TOKEN (or --token-file) to an admin token of the router at ${url}, which is made in the console under ` +
      'Account, or with rtr tokens create where that router runs. Without one, rtr speaks to the router of this machine alone.',
  );
}

function storeAddress(config: AdminConfig, folder: string): { REDIS_URL: string } {
  try {
    return clusterAddresses({ NATS_URL: undefined, REDIS_URL: config.REDIS_URL }, folder, ['REDIS_URL']);
  } catch (cause) {
    const message =
      'Set RTR_ADMIN_TOKEN to an admin token of the router, which is made in the console under Account, or with ' +
      'rtr tokens create where the router runs. There, with REDIS_URL or in the folder of the cluster, no token is needed.';
    throw new UpError(message, { cause });
  }
}

function refusedToken(url: string): string {
  return (
    `The router at ${url} refuses the admin token: it is unknown, revoked or expired. Make one in the console under ` +
    'Account, or with rtr tokens create where the router runs.'
  );
}
