import type { ClusterConfig } from '../config.ts';
import { localNatsUrl, localRedisUrl, readClusterState } from './cluster-state.ts';
import { UpError } from './up-error.ts';

/**
 * Where NATS and Redis of the cluster are: as the settings say, else the servers that `rtr up` runs from this folder.
 * @throws UpError when neither says where
 */
export function clusterAddresses(
  { NATS_URL, REDIS_URL }: Pick<ClusterConfig, 'NATS_URL' | 'REDIS_URL'>,
  folder: string,
): { NATS_URL: string; REDIS_URL: string } {
  const state = readClusterState(folder);
  const nats = NATS_URL ?? (state?.ports.nats && localNatsUrl(state, state.ports.nats));
  const redis = REDIS_URL ?? (state?.ports.redis && localRedisUrl(state, state.ports.redis));
  if (nats && redis) return { NATS_URL: nats, REDIS_URL: redis };
  const missing = [nats ? [] : ['NATS_URL'], redis ? [] : ['REDIS_URL']].flat().join(' and ');
  throw new UpError(`There is no cluster here: set ${missing}, or start one with npm start.`);
}
