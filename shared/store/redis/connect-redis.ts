import { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { buildRedisOptions } from './redis-options.ts';

const commandTimeoutMs = 1_000;
const connectTimeoutMs = 3_000;
const maxPauseMs = 2_000;
const minWarningIntervalMs = 10_000;
const reconnectAfterEndMs = 250;

/** A connection to Redis that reconnects by itself. While Redis is unavailable, commands fail at once instead of piling up. */
export interface RedisConnection {
  readonly redis: Redis;
  /** Returns whether Redis answers a ping within a second. */
  ready(): Promise<boolean>;
  /** Returns the milliseconds that Redis takes to answer a ping; undefined if Redis does not answer within a second. */
  measureRoundTripMs(): Promise<number | undefined>;
  /** Resolves when Redis can be used. Rejects with `store_unavailable` if the signal aborts first. */
  whenReady(signal: AbortSignal): Promise<void>;
  /** Closes the connection. Unanswered commands fail. */
  close(): void;
}

export interface RedisAccess {
  log: Logger;
  /** Name of the connection in Redis. */
  name: string;
  /** Certificate authorities in PEM that are accepted in addition to the public ones. */
  ca?: string | undefined;
}

/**
 * Starts to connect to Redis and returns without waiting. Failed tries to connect are repeated without end, at most two seconds apart. A
 * command that gets no answer within a second fails. Every later command fails until Redis answers again. With sentinels, each try asks
 * them for the primary, so that the connection follows a failover.
 * @param url see `buildRedisOptions`
 * @throws ConfigError for a text that is not a URL of Redis
 */
export function connectRedis(url: string, { log, name, ca }: RedisAccess): RedisConnection {
  const redis = new Redis({
    ...buildRedisOptions(url, ca),
    connectionName: name,
    commandTimeout: commandTimeoutMs,
    // A connection on which the server is silent for this time is closed, so that the next command does not wait for the same time.
    socketTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A command whose reply was lost may have been executed. Whether to send it again is for the caller to decide.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(maxPauseMs, 50 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 4),
  });
  reportHealth(redis, log);
  const stopReconnecting = reconnectAfterEnd(redis);

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
    async measureRoundTripMs() {
      const startedAt = performance.now();
      return (await this.ready()) ? performance.now() - startedAt : undefined;
    },
    whenReady: (signal) => waitUntilReady(redis, signal),
    close() {
      stopReconnecting();
      redis.disconnect();
    },
  };
}

/**
 * Connects again when the library stops by itself. This happens when sentinels report a new primary while the library asks them for the
 * primary: the library then mistakes its own disconnect for a request to close the connection.
 * @returns a function that stops this
 */
function reconnectAfterEnd(redis: Redis): () => void {
  let timer: NodeJS.Timeout | undefined;
  const scheduleConnect = (): void => {
    timer = setTimeout(() => {
      // The events `error` and `end` report failures.
      redis.connect().catch(() => undefined);
    }, reconnectAfterEndMs);
  };
  redis.on('end', scheduleConnect);
  return () => {
    redis.off('end', scheduleConnect);
    clearTimeout(timer);
  };
}

function waitUntilReady(redis: Redis, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      redis.off('ready', settle);
      signal.removeEventListener('abort', settle);
      if (redis.status === 'ready') resolve();
      else reject(new RouterError('store_unavailable', 'Redis does not answer.', { cause: signal.reason }));
    };
    redis.on('ready', settle);
    signal.addEventListener('abort', settle);
    if (redis.status === 'ready' || signal.aborted) settle();
  });
}

/** Logs when Redis becomes unavailable, at most once in ten seconds, and when it is available again. */
function reportHealth(redis: Redis, log: Logger): void {
  let isUnavailable = false;
  let warnedAt = -Infinity;
  const warn = (reason: string): void => {
    isUnavailable = true;
    const now = performance.now();
    if (now - warnedAt < minWarningIntervalMs) return;
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
    if (isUnavailable) log.info('redis is back');
    isUnavailable = false;
    warnedAt = -Infinity;
  });
}
