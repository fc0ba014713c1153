import type { Redis } from 'ioredis';

/** The names and values of everything in Redis that begins with a prefix, as one text to search. */
export async function everythingUnder(redis: Redis, prefix: string): Promise<string> {
  const names = await redis.keys(`${prefix}*`);
  const values = await Promise.all(
    names.map(async (name): Promise<unknown> => {
      const type = await redis.type(name);
      switch (type) {
        case 'hash':
          return redis.hgetall(name);
        case 'zset':
          return redis.zrange(name, '0', '-1', 'WITHSCORES');
        case 'string':
          return redis.get(name);
        case 'set':
          return redis.smembers(name);
        case 'list':
          return redis.lrange(name, 0, -1);
        case 'stream':
          return redis.xrange(name, '-', '+');
        case 'none':
          // Gone since its name was read.
          return [];
        default:
          throw new Error(`nobody looks into values of the type ${type}`);
      }
    }),
  );
  return JSON.stringify([names, values]);
}
