import type { Redis } from 'ioredis';

/**
 * Everything that Redis keeps under names with this beginning, as one text of names and values, each uncompressed: a search in it finds
 * whatever stands there unsealed. Throws for a kind of value that it does not know.
 */
export async function readAllValues(redis: Redis, prefix: string): Promise<string> {
  const texts: unknown[] = [];
  for await (const names of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    for (const name of names as string[]) texts.push(name, await readValue(redis, name));
  }
  return texts.flat(9).join('\n');
}

async function readValue(redis: Redis, name: string): Promise<unknown> {
  const type = await redis.type(name);
  switch (type) {
    case 'string':
      return (await redis.getBuffer(name))?.toString('latin1');
    case 'hash':
      return Object.entries(await redis.hgetallBuffer(name)).map(([field, value]) => [field, value.toString('latin1')]);
    case 'list':
      return (await redis.lrangeBuffer(name, 0, -1)).map((value) => value.toString('latin1'));
    case 'set':
      return redis.smembers(name);
    case 'zset':
      return redis.zrange(name, '0', '-1', 'WITHSCORES');
    case 'stream':
      return (await redis.xrangeBuffer(name, '-', '+')).map(([id, fields]) =>
        [id, ...fields].map((value) => value.toString('latin1')),
      );
    // It expired meanwhile.
    case 'none':
      return '';
    default:
      throw new Error(`${name} is a ${type}`);
  }
}
