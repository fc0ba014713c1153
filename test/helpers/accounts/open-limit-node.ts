import { onTestFinished, vi } from 'vitest';
import { LimitKeeper, type LimitKeeperTimes } from '#shared/accounts/limits/limit-keeper.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { Amount } from '#shared/accounts/limits/party-use.ts';
import { silentLog } from '../silent-log.ts';
import { openKeyStore } from './open-key-store.ts';

/** Opens a keeper on a connection of its own, which is all of a node that limits see. */
export async function openLimitNode(url: string, prefix: string, times?: LimitKeeperTimes) {
  const { connection, redis } = await openKeyStore(url, prefix);
  const sent = [vi.spyOn(redis, 'eval'), vi.spyOn(redis, 'evalsha')];
  const keeper = new LimitKeeper(redis, prefix, silentLog, times);
  onTestFinished(() => keeper.close());
  const args = () =>
    sent.flatMap(({ mock }) => mock.calls).map((call) => JSON.parse(String(call[2])) as Record<string, unknown>);
  return {
    keeper,
    connection,
    redis,
    /** Number of scripts that were run. */
    runs: () => args().length,
    /** Ids of all reservations, including shares, that it ever requested. */
    ids: () => [...new Set(args().flatMap(({ id }) => (typeof id === 'string' ? [id] : [])))],
    reports: () => args().filter(({ number }) => number !== undefined),
  };
}

export type LimitNode = Awaited<ReturnType<typeof openLimitNode>>;

/** Makes a node serve requests, one after the other, until one has drawn on a share; returns their number. */
export async function warm(
  { keeper, runs }: LimitNode,
  parties: readonly PartyLimits[],
  amount: Amount,
): Promise<number> {
  for (let served = 1; ; served++) {
    const before = runs();
    const verdict = await keeper.reserve(parties, amount);
    if (!verdict.granted) throw verdict.error;
    verdict.reservation.commit(amount);
    if (runs() === before) return served;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
