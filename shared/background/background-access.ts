import type { ConnectionOptions, RedisOptions } from 'bullmq';
import { buildRedisOptions } from '#shared/store/redis/redis-options.ts';
import type { Logger } from '#shared/core/log.ts';

export interface BackgroundAccess {
  /** URL of Redis, see `buildRedisOptions`. */
  url: string;
  /** Certificates in PEM that may have signed the server's certificate, besides the public certificates. */
  ca?: string | undefined;
  /** Start of all names in Redis. */
  prefix: string;
  log: Logger;
}

/** Maximum milliseconds between two tries to connect. */
const maxPauseMs = 2_000;

/** Milliseconds after which a command of a process that adds to a queue fails without an answer. */
const commandTimeoutMs = 2_000;

/** Returns the start of the names of the queues in Redis. */
export function toQueuePrefix(prefix: string): string {
  return `${prefix}background`;
}

/**
 * Returns the options for the connection of a process that works on a queue. While Redis is unavailable, the commands of this connection
 * wait. They are sent when Redis is available again, to the new primary if there are sentinels. A command may be executed twice without
 * harm, because a worker's lock protects the job that it has begun.
 * @throws ConfigError for a text that is no URL of Redis
 */
export function toWorkerConnection({ url, ca }: BackgroundAccess): ConnectionOptions {
  return { ...toRedisOptions(url, ca), maxRetriesPerRequest: null, retryStrategy: computeReconnectMs };
}

/**
 * Returns the options for the connection of a process that adds to a queue. While Redis is unavailable, the commands of this connection
 * fail at once.
 * @throws ConfigError for a text that is no URL of Redis
 */
export function toProducerConnection({ url, ca }: BackgroundAccess): ConnectionOptions {
  return {
    ...toRedisOptions(url, ca),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs,
    retryStrategy: computeReconnectMs,
  };
}

/** Converts a URL of Redis to options of a connection. The cast is needed because the library's type permits no undefined option. */
function toRedisOptions(url: string, ca: string | undefined): RedisOptions {
  const options = buildRedisOptions(url, ca) as RedisOptions;
  // The failover detector may end a connection for good (see `reconnectAfterEnd` in connect-redis.ts), and nothing here can reopen the
  // connections of the library. A primary that sentinels have replaced closes its connections, or refuses writes. The library then asks the
  // sentinels for the new primary.
  return 'sentinels' in options ? { ...options, failoverDetector: false } : options;
}

function computeReconnectMs(attempt: number): number {
  return Math.min(maxPauseMs, 50 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 4);
}
