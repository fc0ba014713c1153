import type { Redis } from 'ioredis';
import { callRedis } from './call-redis.ts';

/** A place in sorted sets by time, in ms since 1970. The newest member comes first, and of members with equal times the larger one. */
export interface TimedPlace {
  at: number;
  member: string;
}

/**
 * Returns the next members of several sorted sets by time, merged, newest first.
 * @param max maximum of members
 * @param after the place after which the members begin; undefined to begin with the newest
 * @param oldest members that are older are left out, in ms since 1970
 * @throws RouterError `store_unavailable`
 */
export async function readNewest(
  redis: Redis,
  names: readonly string[],
  max: number,
  after: TimedPlace | undefined,
  oldest: number | '-inf' = '-inf',
): Promise<TimedPlace[]> {
  const lists = await Promise.all(
    names.map(async (name) => {
      const from = after?.at ?? '+inf';
      // Members with the time of `after` may come before it.
      const sameTimeCount = after ? await callRedis(redis.zcount(name, from, from)) : 0;
      const range = [name, from, oldest, 'WITHSCORES', 'LIMIT', 0, max + sameTimeCount] as const;
      const reply = await callRedis(redis.zrevrangebyscore(...range));
      const places: TimedPlace[] = [];
      for (let index = 0; index + 1 < reply.length; index += 2)
        places.push({ member: reply[index] ?? '', at: Number(reply[index + 1]) });
      return after ? places.filter((place) => comparePlaces(place, after) > 0) : places;
    }),
  );
  return lists.flat().sort(comparePlaces).slice(0, max);
}

function comparePlaces(a: TimedPlace, b: TimedPlace): number {
  return b.at - a.at || (a.member < b.member ? 1 : a.member > b.member ? -1 : 0);
}
