import { JetStreamApiError } from '@nats-io/jetstream';
import type { Broker } from './connect-broker.ts';

/** JetStream's errors for more copies than nodes: no peers, no room on the peers, no cluster. */
const tooFewNodes = [10005, 10023, 10074];

/** The number of nodes that keep a copy of a stream if NATS is a cluster. One of them may be lost without the loss of a message. */
const copiesInCluster = 3;

/** Makes a stream with three copies if NATS is a cluster with enough nodes, otherwise with one copy. */
export async function withReplicas<T>(broker: Broker, make: (copies: number) => Promise<T>): Promise<T> {
  if (broker.nc.info?.cluster === undefined) return make(1);
  try {
    return await make(copiesInCluster);
  } catch (error) {
    if (!isApiError(error, ...tooFewNodes)) throw error;
    return make(1);
  }
}

export function isApiError(error: unknown, ...codes: readonly number[]): error is JetStreamApiError {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}
