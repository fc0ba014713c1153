import type { ConnectionOptions, RedisOptions } from 'bullmq';
import { redisOptions } from '#shared/accounts/redis/redis-options.ts';
import type { Logger } from '#shared/core/log.ts';

/** Where the queues of background work are. */
export interface BackgroundAccess {
  /** Address of Redis, see `redisOptions`. */
  url: string;
  /** Certificates in PEM that the server's may be signed by, besides the public ones. */
  ca?: string | undefined;
  /** First part of all names in Redis. */
  prefix: string;
  log: Logger;
}

/** Milliseconds between two attempts to connect at most. */
const longestPauseMs = 2_000;

/** Milliseconds for an answer to what a process waits for that has other work, too. */
const commandTimeoutMs = 2_000;

/** First part of the names of the queues in Redis. */
export function queuePrefix(prefix: string): string {
  return `${prefix}background`;
}

/**
 * The connection of who works on a queue: commands wait while Redis is away, and are sent when it is back, behind sentinels to the
 * new primary. What a worker of a queue has begun is protected by its lock, so a command that was done already does no harm.
 * @throws ConfigError for a text that is no address of Redis
 */
export function workerConnection({ url, ca }: BackgroundAccess): ConnectionOptions {
  return { ...addressOf(url, ca), maxRetriesPerRequest: null, retryStrategy };
}

/**
 * The connection of who adds to a queue: while Redis is away, commands fail at once.
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

/** The options for an address. The library's type does not let any of them be undefined. */
function addressOf(url: string, ca: string | undefined): RedisOptions {
  const options = redisOptions(url, ca) as RedisOptions;
  // It may end a connection for good (see `revive` in connect-redis.ts), and these are the library's own. A primary that sentinels
  // have replaced closes its connections, or refuses to write, and then they are asked for the new one.
  return 'sentinels' in options ? { ...options, failoverDetector: false } : options;
}

function retryStrategy(attempt: number): number {
  return Math.min(longestPauseMs, 50 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 4);
}
