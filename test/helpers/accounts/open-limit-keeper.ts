import { onTestFinished } from 'vitest';
import { LimitKeeper, type LimitKeeperTimes, type Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Limits, PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { Amount } from '#shared/accounts/limits/party-use.ts';
import { silentLog } from '../silent-log.ts';
import { made } from './made.ts';
import { openKeyStore } from './open-key-store.ts';

export const nothing: Amount = { tokens: 0, cost: 0 };

/** Opens a keeper of limits on a prefix of its own, with access to its store, for the duration of the running test. */
export async function openLimitKeeper(url?: string, times?: LimitKeeperTimes) {
  const { redis, prefix } = await openKeyStore(url);
  const keeper = new LimitKeeper(redis, prefix, silentLog, times);
  onTestFinished(() => keeper.close());
  const reservations = `${prefix}limit:reservations`;
  return {
    keeper,
    redis,
    prefix,
    /** Reserves an amount, or throws the refusal. */
    reserve: async (parties: readonly PartyLimits[], amount = nothing): Promise<Reservation> => {
      const verdict = await keeper.reserve(parties, amount);
      if (!verdict.granted) throw verdict.error;
      return verdict.reservation;
    },
    /** The only party's use. */
    use: async (party: PartyLimits) => made((await keeper.read([party]))[0]),
    /** Ids of the reservations in force. */
    ids: () => redis.zrange(reservations, '0', '-1'),
    /** Makes reservations expire now. */
    expire: async (...ids: string[]): Promise<void> => {
      if (ids.length > 0) await redis.zadd(reservations, 'XX', ...ids.flatMap((id) => ['1', id]));
    },
  };
}

/** A key with limits. */
export function keyWith(limits: Limits, id = 'k1'): PartyLimits {
  return { party: `key:${id}`, limits };
}
