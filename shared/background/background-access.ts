import type { ConnectionOptions, RedisOptions } from 'bullmq';
import { redisOptions } from '#shared/accounts/redis/redis-options.ts';
import type { Logger } from '#shared/core/log.ts';

export interface BackgroundAccess {
  /** Address of Redis, see `redisOptions`. */
  url: string;
  /** Certificates in PEM that may have signed the server's, besides the public ones. */
  ca?: string | undefined;
  /** First part of all names in Redis. */
  prefix: string;
  log: Logger;
}

/** Maximum of milliseconds between two tries to connect. */
const longestPauseMs = 2_000;

/** Milliseconds in which Redis must answer a process that has other work, too. */
const commandTimeoutMs = 2_000;

/** Returns the first part of the names of the queues in Redis. */
export function queuePrefix(prefix: string): string {
  return `${prefix}background`;
}

/**
 * Returns the connection of a process that works on a queue: commands wait while Redis is away, and are sent when it is back, behind
 * sentinels to the new primary. The lock of a worker protects the job that it has begun, so a command that is executed twice does no harm.
 * @throws ConfigError for a text that is no address of Redis
 */
export function workerConnection({ url, ca }: BackgroundAccess): ConnectionOptions {
  return { ...addressOf(url, ca), maxRetriesPerRequest: null, retryStrategy };
}

/**
 * Returns the connection of a process that adds to a queue: while Redis is away, commands fail at once.
 * @throws ConfigError for a text that is no address of Redis
 */
export function producerConnection({ url, ca }: BackgroundAccess): ConnectionOptions {
  return {
    ...addressOf(url, ca),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    socketTimeout: commandTimeoutMs,
    retryStrategy,
  };
}

/** Returns the options for an address. The cast is needed because the library's type permits no undefined option. */
function addressOf(url: string, ca: string | undefined): RedisOptions {
  const options = redisOptions(url, ca) as RedisOptions;
  // The failover detector may end a connection for good (see `reconnectAfterEnd` in connect-redis.ts), and these connections belong to the library. A
  // primary that sentinels have replaced closes its connections, or refuses to write; then the sentinels are asked for the new one.
  return 'sentinels' in options ? { ...options, failoverDetector: false } : options;
}

function retryStrategy(attempt: number): number {
  return Math.min(longestPauseMs, 50 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 4);
}
