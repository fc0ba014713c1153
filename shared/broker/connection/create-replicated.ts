import type { Broker } from './connect-broker.ts';
import { isApiError } from './open-jetstream-manager.ts';

/** JetStream's errors for a stream with more copies than there are nodes: no peers, no room on the peers, no cluster. */
const tooFewNodesCodes = [10005, 10023, 10074];

/** The number of nodes that keep a copy of a stream if NATS is a cluster, so that the loss of one node loses no message. */
const copiesInCluster = 3;

/**
 * Calls `make` to create a stream. The stream has three copies if NATS is a cluster of enough nodes, otherwise one copy.
 * @returns what `make` returns
 */
export async function createReplicated<T>(broker: Broker, make: (copies: number) => Promise<T>): Promise<T> {
  if (broker.nc.info?.cluster === undefined) return make(1);
  try {
    return await make(copiesInCluster);
  } catch (error) {
    if (!isApiError(error, ...tooFewNodesCodes)) throw error;
    return make(1);
  }
}
