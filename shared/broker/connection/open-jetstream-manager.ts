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
