import type { ChainableCommander } from 'ioredis';
import { storeUnavailable } from './store-unavailable.ts';

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
