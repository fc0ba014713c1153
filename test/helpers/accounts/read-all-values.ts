import type { Redis } from 'ioredis';

/**
 * Returns everything that Redis stores under names with this beginning, as one text of names and uncompressed values: a search finds any
 * unsealed text. Throws for an unknown kind of value.
 */
export async function readAllValues(redis: Redis, prefix: string): Promise<string> {
  const texts: unknown[] = [];
  for await (const names of redis.scanStream({ match: `${prefix}*`, count: 1_000 })) {
    for (const name of names as string[]) texts.push(name, await readValue(redis, name));
  }
  return texts.flat(9).join('\n');
}

type Read = (redis: Redis, name: string) => Promise<unknown>;

const latin1 = (value: Buffer | null): string | undefined => value?.toString('latin1');

const reads: Record<string, Read> = {
  string: async (redis, name) => latin1(await redis.getBuffer(name)),
  hash: async (redis, name) =>
    Object.entries(await redis.hgetallBuffer(name)).map(([field, value]) => [field, latin1(value)]),
  list: async (redis, name) => (await redis.lrangeBuffer(name, 0, -1)).map(latin1),
  set: (redis, name) => redis.smembers(name),
  zset: (redis, name) => redis.zrange(name, '0', '-1', 'WITHSCORES'),
  stream: async (redis, name) =>
    (await redis.xrangeBuffer(name, '-', '+')).map(([id, fields]) => [id, ...fields].map(latin1)),
  // The value expired in the meantime.
  none: async () => '',
};

async function readValue(redis: Redis, name: string): Promise<unknown> {
  const type = await redis.type(name);
  const read = reads[type];
  if (!read) throw new Error(`${name} is a ${type}`);
  return read(redis, name);
}
