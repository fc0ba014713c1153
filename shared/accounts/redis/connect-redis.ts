import { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { redisOptions } from './redis-options.ts';

const commandTimeoutMs = 1_000;
const connectTimeoutMs = 3_000;
const longestPauseMs = 2_000;
const quietBetweenWarningsMs = 10_000;
const givenUpPauseMs = 250;

/** A connection to Redis that heals itself. While Redis is away, commands fail at once instead of piling up. */
export interface RedisConnection {
  readonly redis: Redis;
  /** Whether Redis answers now; known within a second. */
  ready(): Promise<boolean>;
  /** Milliseconds that Redis took to answer just now; undefined when it does not within a second. */
  roundTripMs(): Promise<number | undefined>;
  /** Resolves when Redis can be used; rejects with `store_unavailable` when the signal aborts before. */
  whenReady(signal: AbortSignal): Promise<void>;
  /** Ends the connection. Commands that are under way fail. */
  close(): void;
}

export interface RedisAccess {
  log: Logger;
  /** What the server calls the connection. */
  name: string;
  /** Certificates in PEM that the server's may be signed by, besides the public ones. */
  ca?: string | undefined;
}

/**
 * Starts to connect to Redis and returns without waiting. Failed attempts are repeated for ever, at most two seconds apart.
 * A command that gets no answer within a second fails, and so does every later one until Redis answers again.
 * With sentinels, each attempt asks them for the primary, so that the connection follows a failover.
 * @param url see `redisOptions`
 * @throws ConfigError for a text that is no address of Redis
 */
export function connectRedis(url: string, { log, name, ca }: RedisAccess): RedisConnection {
  const redis = new Redis({
    ...redisOptions(url, ca),
    connectionName: name,
    commandTimeout: commandTimeoutMs,
    // A server that is silent for as long counts as gone: the next command need not find that out by waiting again.
    socketTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // A command whose answer was lost may have been done: the caller decides what that means, not the connection.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(longestPauseMs, 50 * 2 ** Math.min(attempt, 10)) * (0.75 + Math.random() / 4),
  });
  reportHealth(redis, log);
  const stopReviving = revive(redis);

  let asking: Promise<boolean> | undefined;
  return {
    redis,
    ready() {
      asking ??= redis
        .ping()
        .then(
          () => true,
          () => false,
        )
        .finally(() => {
          asking = undefined;
        });
      return asking;
    },
    async roundTripMs() {
      const startedAt = performance.now();
      return (await this.ready()) ? performance.now() - startedAt : undefined;
    },
    whenReady: (signal) => becomesReady(redis, signal),
    close() {
      stopReviving();
      redis.disconnect();
    },
  };
}

/**
 * Connects again when the library gives up by itself. It does so when sentinels announce a new primary at the moment at which it
 * asks them for one: it mistakes its own disconnect for a request to close.
 * @returns stops that
 */
function revive(redis: Redis): () => void {
  let pause: NodeJS.Timeout | undefined;
  const begin = (): void => {
    pause = setTimeout(() => {
      // The events `error` and `end` report failures.
      redis.connect().catch(() => undefined);
    }, givenUpPauseMs);
  };
  redis.on('end', begin);
  return () => {
    redis.off('end', begin);
    clearTimeout(pause);
  };
}

function becomesReady(redis: Redis, signal: AbortSignal): Promise<void> {
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

/** Logs that Redis is away, at most once in ten seconds, and that it is back. */
function reportHealth(redis: Redis, log: Logger): void {
  let away = false;
  let warnedAt = -Infinity;
  const warn = (reason: string): void => {
    away = true;
    const now = performance.now();
    if (now - warnedAt < quietBetweenWarningsMs) return;
    warnedAt = now;
    log.warn({ reason }, 'redis is away');
  };
  // Only code or message: the library's errors carry the command that failed, AUTH with its password among them.
  redis.on('error', (error: NodeJS.ErrnoException) => {
    warn(error.message || error.code || error.name);
  });
  redis.on('reconnecting', () => {
    warn('the connection was lost');
  });
  redis.on('ready', () => {
    if (away) log.info('redis is back');
    away = false;
    warnedAt = -Infinity;
  });
}
