import type { ClusterConfig } from '../config.ts';
import { localNatsUrl, localRedisUrl, readClusterState } from './cluster-state.ts';
import { UpError } from './up-error.ts';

/** What names a server of the cluster. */
export type ClusterAddress = 'NATS_URL' | 'REDIS_URL';

/**
 * Where the named servers of the cluster are: as the settings say, else those that `rtr up` runs from this folder.
 * @throws UpError when neither says where
 */
export function clusterAddresses<Needed extends ClusterAddress>(
  config: Pick<ClusterConfig, ClusterAddress>,
  folder: string,
  needed: readonly Needed[],
): Record<Needed, string> {
  const state = readClusterState(folder);
  const local: Record<ClusterAddress, string | undefined> = {
    NATS_URL: state?.ports.nats ? localNatsUrl(state, state.ports.nats) : undefined,
    REDIS_URL: state?.ports.redis ? localRedisUrl(state, state.ports.redis) : undefined,
  };
  const found = needed.map((name) => [name, config[name] ?? local[name]] as const);
  const missing = found.filter(([, url]) => url === undefined).map(([name]) => name);
  if (missing.length > 0)
    throw new UpError(`There is no cluster here: set ${missing.join(' and ')}, or start one with npm start.`);
  return Object.fromEntries(found) as Record<Needed, string>;
}

/** Where a router of this machine is to be reached from this machine, as `http://127.0.0.1:8484`. */
export function localUrl({ HOST, PORT }: { HOST: string; PORT: number }): string {
  return `http://${reachableHost(HOST)}:${PORT}`;
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
