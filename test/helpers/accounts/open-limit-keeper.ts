import { onTestFinished } from 'vitest';
import type { Redis } from 'ioredis';
import { LimitKeeper, type LimitKeeperTimes, type Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Limits, PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { Amount, PartyUse } from '#shared/accounts/limits/party-use.ts';
import { silentLog } from '../silent-log.ts';
import { openKeyStore } from './open-key-store.ts';

/** A keeper of limits on a prefix of its own, and ways to reach behind it. */
export interface OpenLimitKeeper {
  keeper: LimitKeeper;
  redis: Redis;
  prefix: string;
  /** Another keeper of the same limits, as of a second node. */
  another: (times?: LimitKeeperTimes) => LimitKeeper;
  /** Reserves an amount, or throws the refusal. */
  reserve: (parties: readonly PartyLimits[], amount?: Amount) => Promise<Reservation>;
  /** The only party's use. */
  use: (party: PartyLimits) => Promise<PartyUse>;
  /** Ids of the reservations in force. */
  ids: () => Promise<string[]>;
  /** Has reservations expire now. */
  expire: (...ids: string[]) => Promise<void>;
}

export const nothing: Amount = { tokens: 0, cost: 0 };

/** Opens a keeper for the duration of the running test. */
export async function openLimitKeeper(url?: string, times?: LimitKeeperTimes): Promise<OpenLimitKeeper> {
  const { redis, prefix } = await openKeyStore(url);
  const another = (given?: LimitKeeperTimes): LimitKeeper => {
    const made = new LimitKeeper(redis, prefix, silentLog, given);
    onTestFinished(() => made.close());
    return made;
  };
  const keeper = another(times);
  const reservations = `${prefix}limit:reservations`;
  return {
    keeper,
    redis,
    prefix,
    another,
    reserve: async (parties, amount = nothing) => {
      const verdict = await keeper.reserve(parties, amount);
      if (!verdict.granted) throw verdict.error;
      return verdict.reservation;
    },
    use: async (party) => {
      const [use] = await keeper.read([party]);
      if (!use) throw new Error('there is no use');
      return use;
    },
    ids: () => redis.zrange(reservations, '0', '-1'),
    expire: async (...ids) => {
      if (ids.length > 0) await redis.zadd(reservations, 'XX', ...ids.flatMap((id) => ['1', id]));
    },
  };
}

/** A key with limits. */
export function keyWith(limits: Limits, id = 'k1'): PartyLimits {
  return { party: `key:${id}`, limits };
}
