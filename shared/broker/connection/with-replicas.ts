import { JetStreamApiError } from '@nats-io/jetstream';
import type { Broker } from './connect-broker.ts';

/** JetStream's errors for a stream with more copies than there are nodes: no peers, no room on the peers, no cluster. */
const tooFewNodesCodes = [10005, 10023, 10074];

/** The number of nodes that keep a copy of a stream if NATS is a cluster. If one of these nodes is lost, no message is. */
const copiesInCluster = 3;

/**
 * Calls `make` to create a stream: with three copies if NATS is a cluster, and with one copy if it is not, or if it has too few nodes.
 * @returns what `make` returns
 */
export async function withReplicas<T>(broker: Broker, make: (copies: number) => Promise<T>): Promise<T> {
  if (broker.nc.info?.cluster === undefined) return make(1);
  try {
    return await make(copiesInCluster);
  } catch (error) {
    if (!isApiError(error, ...tooFewNodesCodes)) throw error;
    return make(1);
  }
}

export function isApiError(error: unknown, ...codes: readonly number[]): error is JetStreamApiError {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}
