import type { ChainableCommander, Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';

/**
 * Waits for a command's reply.
 * @throws RouterError `store_unavailable` when the command fails, or is not answered in time
 */
export async function callRedis<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw createStoreUnavailableError(error);
  }
}

/**
 * Runs several commands and waits for all replies.
 * @throws RouterError `store_unavailable` when a command fails, or is not answered in time
 */
export async function callRedisAll(commands: ChainableCommander): Promise<unknown[]> {
  const results = (await callRedis(commands.exec())) ?? [];
  return results.map(([error, reply]) => {
    if (error) throw createStoreUnavailableError(error);
    return reply;
  });
}

/**
 * Returns the fields of a hash: an empty object if the hash does not exist, undefined if the name has a value of another type.
 * @throws RouterError `store_unavailable` when the command fails, or is not answered in time
 */
export async function readHash(redis: Redis, name: string): Promise<Record<string, string> | undefined> {
  try {
    return await redis.hgetall(name);
  } catch (error) {
    if (isWrongType(error)) return undefined;
    throw createStoreUnavailableError(error);
  }
}

/**
 * Returns the error for a command that failed. Its cause has only the message of the library's error, because the error itself contains the
 * arguments of the command, which must not be logged.
 */
export function createStoreUnavailableError(error: unknown): RouterError {
  const reason = error instanceof Error ? error.message : String(error);
  const state = parseWriteRefusal(error) === undefined ? 'does not answer' : 'takes no changes at this time';
  return new RouterError('store_unavailable', `The account store ${state}. Please try again soon.`, {
    retryAfter: 2,
    cause: new Error(`redis: ${reason}`),
  });
}

/**
 * Returns the message of an error that shows that Redis refuses all writes, because its memory is full, its disk fails, it is a read-only
 * replica, or it lacks replicas. Returns undefined for any other error. In Redis 6, the error of a script contains this message. The error
 * of a transaction says only that the transaction was discarded.
 */
export function parseWriteRefusal(error: unknown): string | undefined {
  const isRefusal =
    error instanceof Error && /(?:^|-)(?:OOM|MISCONF|READONLY|NOREPLICAS) |^EXECABORT /.test(error.message);
  return isRefusal ? error.message : undefined;
}

export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}
