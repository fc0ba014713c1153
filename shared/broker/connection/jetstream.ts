import { JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { Broker } from './connect-broker.ts';

/** JetStream's error for a stream that exists with other settings. */
export const streamNameInUse = 10058;
/** JetStream's error for a stream that does not exist. */
export const streamNotFound = 10059;

/**
 * Opens the manager of JetStream's streams and consumers. Does not ask whether there is JetStream, as the library would, because each call
 * shows that.
 * @param timeoutMs milliseconds within which the broker must answer each call
 */
export function openJetStreamManager({ nc }: Broker, timeoutMs: number): Promise<JetStreamManager> {
  return jetstreamManager(nc, { checkAPI: false, timeout: timeoutMs });
}

/** Whether an error is one of JetStream's errors with these codes. */
export function isApiError(error: unknown, ...codes: readonly number[]): error is JetStreamApiError {
  return error instanceof JetStreamApiError && codes.includes(error.code);
}

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
