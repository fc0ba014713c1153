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
  /** Whether Redis answers now; settles within a second. */
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
 * Begins to connect to Redis and returns without waiting for it; it tries again for ever, at most two seconds apart.
 * A command that gets no answer within a second fails, and so does every later one until Redis answers again.
 * Where sentinels watch it, each attempt asks them who is primary, so that it follows a failover.
 * @param url see `redisOptions`
 * @throws ConfigError for what is no address of Redis
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
 * Has the library begin anew when it gives up by itself. It does so when sentinels announce a new primary in the very moment
 * in which it asks them for one: it takes its own cut for a wish to end.
 * @returns the call after which the end is wanted
 */
function revive(redis: Redis): () => void {
  let pause: NodeJS.Timeout | undefined;
  const begin = (): void => {
    pause = setTimeout(() => {
      // What fails is told by the events `error` and `end`.
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
