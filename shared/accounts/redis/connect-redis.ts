import { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { redisOptions } from './redis-options.ts';

const commandTimeoutMs = 1_000;
const connectTimeoutMs = 3_000;
const longestPauseMs = 2_000;
const quietBetweenWarningsMs = 10_000;
const reviveAfterMs = 250;

/** A connection to Redis that reconnects by itself. While Redis is unavailable, commands fail at once instead of piling up. */
export interface RedisConnection {
  readonly redis: Redis;
  /** Returns whether Redis answers now, within a second. */
  ready(): Promise<boolean>;
  /** Returns the milliseconds that Redis takes to answer a ping; undefined if it takes more than a second. */
  roundTripMs(): Promise<number | undefined>;
  /** Resolves when Redis can be used. Rejects with `store_unavailable` if the signal aborts first. */
  whenReady(signal: AbortSignal): Promise<void>;
  /** Closes the connection. Unanswered commands fail. */
  close(): void;
}

export interface RedisAccess {
  log: Logger;
  /** Name of the connection in Redis. */
  name: string;
  /** Certificates in PEM that may have signed the server's certificate, besides the public certificates. */
  ca?: string | undefined;
}

/**
 * Starts to connect to Redis and returns without waiting. Failed tries to connect are repeated for ever, at most two seconds apart. A
 * command that gets no answer within a second fails, and so does every later command until Redis answers again. With sentinels, each try
 * asks them for the primary, so that the connection follows a failover.
 * @param url see `redisOptions`
 * @throws ConfigError for a text that is no URL of Redis
 */
export function connectRedis(url: string, { log, name, ca }: RedisAccess): RedisConnection {
  const redis = new Redis({
    ...redisOptions(url, ca),
    connectionName: name,
    commandTimeout: commandTimeoutMs,
    // A server that is silent for this time counts as gone, so that the next command does not have to wait for as long again.
    socketTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A command whose reply was lost may have been executed. Whether to send it again is for the caller to decide.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(longestPauseMs, 50 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 4),
  });
  reportHealth(redis, log);
  const stopReviving = reconnectAfterEnd(redis);

  let runningCheck: Promise<boolean> | undefined;
  return {
    redis,
    ready() {
      runningCheck ??= redis
        .ping()
        .then(
          () => true,
          () => false,
        )
        .finally(() => {
          runningCheck = undefined;
        });
      return runningCheck;
    },
    async roundTripMs() {
      const startedAt = performance.now();
      return (await this.ready()) ? performance.now() - startedAt : undefined;
    },
    whenReady: (signal) => waitUntilReady(redis, signal),
    close() {
      stopReviving();
      redis.disconnect();
    },
  };
}

/**
 * Connects again when the library stops by itself. The library does so when sentinels report a new primary just while it asks them for the
 * primary. It then takes its own disconnect for a request to close the connection.
 * @returns a function that ends the reconnects
 */
function reconnectAfterEnd(redis: Redis): () => void {
  let pause: NodeJS.Timeout | undefined;
  const begin = (): void => {
    pause = setTimeout(() => {
      // The events `error` and `end` report failures.
      redis.connect().catch(() => undefined);
    }, reviveAfterMs);
  };
  redis.on('end', begin);
  return () => {
    redis.off('end', begin);
    clearTimeout(pause);
  };
}

function waitUntilReady(redis: Redis, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onSettled = (): void => {
      redis.off('ready', onSettled);
      signal.removeEventListener('abort', onSettled);
      if (redis.status === 'ready') resolve();
      else reject(new RouterError('store_unavailable', 'Redis does not answer.', { cause: signal.reason }));
    };
    redis.on('ready', onSettled);
    signal.addEventListener('abort', onSettled);
    if (redis.status === 'ready' || signal.aborted) onSettled();
  });
}

/** Logs that Redis is unavailable, at most once in ten seconds, and that it is available again. */
function reportHealth(redis: Redis, log: Logger): void {
  let isAway = false;
  let warnedAt = -Infinity;
  const warn = (reason: string): void => {
    isAway = true;
    const now = performance.now();
    if (now - warnedAt < quietBetweenWarningsMs) return;
    warnedAt = now;
    log.warn({ reason }, 'redis is away');
  };
  // Only the message or the code is logged, because the library's errors contain the failed command, such as AUTH with its password.
  redis.on('error', (error: NodeJS.ErrnoException) => {
    warn(error.message || error.code || error.name);
  });
  redis.on('reconnecting', () => {
    warn('the connection was lost');
  });
  redis.on('ready', () => {
    if (isAway) log.info('redis is back');
    isAway = false;
    warnedAt = -Infinity;
  });
}
