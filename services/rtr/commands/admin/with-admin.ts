import { readFileSync } from 'node:fs';
import { Agent } from 'undici';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { listRedisHosts } from '#shared/store/redis/redis-options.ts';
import { isLoopback } from '#shared/core/own-addresses.ts';
import { createLog } from '#shared/core/log.ts';
import type { AdminConfig } from '../../config.ts';
import { findClusterAddresses, isSameRouter, findOwnRouter, findStartedRouter } from '../../up/cluster-addresses.ts';
import { UpError } from '../../up/up-error.ts';
import { toLocalFileError } from '../client/client-context.ts';
import { withRedis } from '../with-redis.ts';
import { AdminClient } from './admin-client.ts';
import type { AdminContext, AdminOptions } from './admin-context.ts';
import { CommandLineToken } from './command-line-token.ts';

export interface AdminCommandParts extends Omit<AdminContext, 'client' | 'json'> {
  config: AdminConfig;
  options: AdminOptions;
  /** Folder in which `rtr up` keeps the files of a cluster on this machine. It may be missing. */
  folder: string;
}

/**
 * Runs a command on the Admin API with the user's admin token. If the user has no token and the account store can be reached, creates a
 * token for this command and deletes it at the end.
 * @throws UpError if there is neither a token nor a store, or for an invalid address
 */
export async function withAdmin(
  { config, options, folder, ...others }: AdminCommandParts,
  command: (context: AdminContext) => Promise<unknown>,
): Promise<void> {
  const namedUrl = readNamedRouter(config, options) ?? findOwnRouter(config, folder).url;
  const json = options.json ?? false;
  const adminToken = readAdminToken(config, options);
  if (adminToken !== undefined) {
    const token = () => Promise.resolve(adminToken);
    const client = new AdminClient({ url: namedUrl, token, unknownTokenMessage: formatRefusedToken(namedUrl) });
    await command({ client, json, ...others });
    return;
  }
  const url = requireLoopbackAddress(namedUrl, config, folder);
  const { REDIS_URL } = requireStoreAddress(config, folder);
  const log = createLog({ service: 'rtr', level: 'silent', format: 'json' });
  await withRedis({ REDIS_URL, REDIS_CA: config.REDIS_CA, log }, async (redis) => {
    const token = new CommandLineToken(openAccounts(redis, `${config.RTR_PREFIX}:`).adminTokens);
    const unknownTokenMessage =
      `The router at ${url} does not use the account store at ${listRedisHosts(REDIS_URL)}, in which rtr makes a token ` +
      'for each command: set RTR_ADMIN_TOKEN to an admin token of the router.';
    // The global dispatcher may use a proxy from the environment, which would see the token.
    const dispatcher = new Agent();
    const client = new AdminClient({
      url,
      token: () => token.current(),
      unknownTokenMessage,
      dispatcher,
    });
    try {
      await command({ client, json, ...others });
    } finally {
      await Promise.all([token.remove(), dispatcher.destroy()]);
    }
  });
}

/**
 * Returns the admin token that the user has set; undefined if the user has set none. The token in `RTR_ADMIN_TOKEN` is only for the router
 * in `RTR_URL`.
 * @throws RouterError for a file that cannot be read
 * @throws UpError for the token in `RTR_ADMIN_TOKEN` if the user names another router than `RTR_URL`
 */
export function readAdminToken(
  { RTR_ADMIN_TOKEN, RTR_URL }: Pick<AdminConfig, 'RTR_ADMIN_TOKEN' | 'RTR_URL'>,
  { router, tokenFile }: AdminOptions,
): string | undefined {
  if (tokenFile === undefined) {
    const isOtherRouter =
      router !== undefined && RTR_URL !== undefined && new URL(router).origin !== new URL(RTR_URL).origin;
    if (RTR_ADMIN_TOKEN === undefined || !isOtherRouter) return RTR_ADMIN_TOKEN;
    throw new UpError(
      `RTR_ADMIN_TOKEN is for the router at ${RTR_URL}: name a file with an admin token of the router at ${router} with --token-file.`,
    );
  }
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw toLocalFileError(tokenFile, error);
  }
}

/**
 * Returns the address of the router that the user names; undefined if the user names no router.
 * @throws UpError for an invalid address
 */
export function readNamedRouter(config: Pick<AdminConfig, 'RTR_URL'>, { router }: AdminOptions): string | undefined {
  const url = router ?? config.RTR_URL;
  if (url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url;
  throw new UpError(`${url} is not an http or https address.`);
}

/**
 * Returns the address to which a token of the account store may be sent. A foreign program at the address could misuse the token, so the
 * address must belong to the loopback interface. If `REDIS_URL` names the store, the address is the router's address in the settings. For
 * the store of this folder's cluster, it is the address with which the cluster was started, even if the environment names another.
 * @throws UpError for another router
 */
function requireLoopbackAddress(namedUrl: string, config: AdminConfig, folder: string): string {
  const ownAddress = config.REDIS_URL === undefined ? findStartedRouter(folder) : namedUrl;
  if (ownAddress !== undefined && isLoopback(ownAddress) && isSameRouter(namedUrl, ownAddress)) return ownAddress;
  // For an address of this machine, a missing store is reported instead of a wrong address.
  if (isLoopback(namedUrl)) requireStoreAddress(config, folder);
  const startedAtHint =
    ownAddress === undefined || ownAddress === namedUrl
      ? ''
      : ` It was started at ${ownAddress}: are RTR_URL, HOST and PORT right?`;
  throw new UpError(
    `Set RTR_ADMIN_TOKEN (or --token-file) to an admin token of the router at ${namedUrl}, which is made in the console under ` +
      'Account, or with rtr tokens create where that router runs. Without one, rtr speaks to the router of this machine alone, ' +
      `at an address of the loopback interface.${startedAtHint}`,
  );
}

function requireStoreAddress(config: AdminConfig, folder: string): { REDIS_URL: string } {
  try {
    return findClusterAddresses({ NATS_URL: undefined, REDIS_URL: config.REDIS_URL }, folder, ['REDIS_URL'], 'ingress');
  } catch (cause) {
    const message =
      'Set RTR_ADMIN_TOKEN to an admin token of the router, which is made in the console under Account, or with ' +
      'rtr tokens create where the router runs. There, with REDIS_URL or in the folder of the cluster, no token is needed.';
    throw new UpError(message, { cause });
  }
}

function formatRefusedToken(url: string): string {
  return (
    `The router at ${url} refuses the admin token: it is unknown, revoked or expired. Make one in the console under ` +
    'Account, or with rtr tokens create where the router runs.'
  );
}
