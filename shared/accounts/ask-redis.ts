import type { ChainableCommander } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';

/** Waits for a command's reply. @throws RouterError `store_unavailable` when Redis does not do as told in time */
export async function askRedis<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw storeUnavailable(error);
  }
}

/** Runs several commands and waits for all replies. @throws RouterError `store_unavailable` when one of them fails */
export async function askRedisAll(commands: ChainableCommander): Promise<unknown[]> {
  const results = (await askRedis(commands.exec())) ?? [];
  return results.map(([error, reply]) => {
    if (error) throw storeUnavailable(error);
    return reply;
  });
}

/** The library's errors carry the command with its arguments, which belong in no log: only the message goes on. */
function storeUnavailable(error: unknown): RouterError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RouterError('store_unavailable', 'The account store does not answer. Please try again soon.', {
    retryAfter: 2,
    cause: new Error(`redis: ${reason}`),
  });
}
