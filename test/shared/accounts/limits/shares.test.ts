import { describe, expect, inject, it, vi } from 'vitest';
import type { LimitKeeperTimes } from '#shared/accounts/limits/limit-keeper.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import { toScriptParty } from '#shared/accounts/limits/party-use.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { findTightestLimit } from '#shared/accounts/limits/measures.ts';
import { openLimitNode, warm, type LimitNode } from '../../../helpers/accounts/open-limit-node.ts';
import { keyWith, nothing, openLimitKeeper } from '../../../helpers/accounts/open-limit-keeper.ts';
import { until } from '../../../helpers/until.ts';

/** The limits of a cluster, and a node of it. */
async function start(times?: LimitKeeperTimes) {
  const limits = await openLimitKeeper();
  const addNode = () => openLimitNode(inject('redisUrl'), limits.prefix, times);
  return { ...limits, addNode, node: await addNode() };
}
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const key = keyWith({ requestsPerMinute: 100_000, tokensPerDay: 1_000_000 });
const owner: PartyLimits = { party: 'team:t1', limits: { tokensPerMinute: 2_000_000, costPerMonth: 1 } };
const amount = { tokens: 100, cost: 1_000 };

describe('where limits are far', () => {
  it('requests ask Redis seldom, and every token is counted', async () => {
    const { node, use } = await start();
    const before = await warm(node, [key, owner], amount);
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let count = 0; count < 60; count++) {
          const verdict = await node.keeper.reserve([key, owner], amount);
          await pause(5);
          if (verdict.granted) verdict.reservation.commit({ tokens: 30, cost: 7 });
        }
      }),
    );
    // Without a share there are two for each.
    expect(node.runs()).toBeLessThan(400);
    const spent = { tokens: before * 100 + 1_200 * 30, cost: before * 1_000 + 1_200 * 7 };
    await until(async () => expect((await use(key)).day.spent).toEqual(spent));
    await until(async () => expect(await use(owner)).toMatchObject({ active: 0, month: { spent, reserved: nothing } }));
  });

  it('what is left is reported without what the share holds', async () => {
    const { node } = await start();
    const served = await warm(node, [key], amount);
    await until(() => node.keeper.uncommitted === 0);
    const verdict = await node.keeper.reserve([key], amount);
    expect(findTightestLimit(verdict.uses, ['tokensPerDay'])?.remaining).toBe(1_000_000 - (served + 1) * 100);
    const requests = findTightestLimit(verdict.uses, ['requestsPerMinute'])?.remaining;
    expect(requests).toBeGreaterThanOrEqual(100_000 - served - 1);
  });

  it('a share is given back a second after the last request, and nothing of it stays', async () => {
    const { node, use, redis, prefix } = await start();
    const served = await warm(node, [key], amount);
    expect((await use(key)).day.reserved.tokens).toBeGreaterThan(0);
    await until(async () => (await redis.keys(`${prefix}limit:reserv*`)).length === 0);
    const { day, active, buckets } = await use(key);
    expect(day).toEqual({ spent: { tokens: served * 100, cost: served * 1_000 }, reserved: nothing });
    expect([active, buckets.tokens]).toEqual([0, 0]);
    const fields = await redis.hkeys(`${prefix}limit:key:k1`);
    expect(fields.filter((name) => name.startsWith('share'))).toEqual([]);
  });

  it('a request is not refused for what its own node holds', async () => {
    const { node } = await start();
    const served = await warm(node, [key], amount);
    const rest = { tokens: 1_000_000 - served * 100, cost: 0 };
    expect(await node.keeper.reserve([key], { ...rest, tokens: rest.tokens + 1 })).toMatchObject({ granted: false });
    await warm(node, [key], nothing);
    expect(await node.keeper.reserve([key], rest)).toMatchObject({ granted: true });
  });

  it('requests seldom ask Redis for a place among those that may run at once, and each has one', async () => {
    const { node, use } = await start();
    const party = keyWith({ concurrentRequests: 2_000 });
    await warm(node, [party], nothing);
    const before = node.runs();
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let count = 0; count < 40; count++) {
          const verdict = await node.keeper.reserve([party], nothing);
          await pause(5);
          if (verdict.granted) verdict.reservation.release();
        }
      }),
    );
    // Without a share there are two for each of the 800.
    expect(node.runs() - before).toBeLessThan(400);
    const running = await Promise.all(Array.from({ length: 20 }, () => node.keeper.reserve([party], nothing)));
    expect((await use(party)).active).toBeGreaterThanOrEqual(20);
    for (const verdict of running) if (verdict.granted) verdict.reservation.release();
    await until(async () => expect((await use(party)).active).toBe(0));
  });

  it('running requests of a share count for a limit that is set later', async () => {
    const { node, use } = await start();
    await warm(node, [key], amount);
    const draws = await Promise.all(Array.from({ length: 3 }, () => node.keeper.reserve([key], amount)));
    await until(async () => expect((await use(key)).active).toBe(3));
    for (const verdict of draws) if (verdict.granted) verdict.reservation.release();
    await until(async () => expect((await use(key)).active).toBe(0));
  });
});

it('many nodes run no more requests at once than a limit allows, and as many', async () => {
  const { addNode } = await start();
  const nodes = await Promise.all(Array.from({ length: 3 }, addNode));
  const party = [keyWith({ concurrentRequests: 120 })];
  let endsAt = Number.POSITIVE_INFINITY;
  let running = 0;
  let most = 0;
  const client = async ({ keeper }: LimitNode): Promise<void> => {
    while (performance.now() < endsAt) {
      const verdict = await keeper.reserve(party, nothing);
      if (!verdict.granted) {
        await pause(5);
        continue;
      }
      running += 1;
      most = Math.max(most, running);
      await pause(Math.random() * 20);
      running -= 1;
      verdict.reservation.release();
    }
  };
  // First far from the limit, so that all have shares, and then beyond it.
  const few = nodes.flatMap((node) => Array.from({ length: 10 }, () => client(node)));
  await until(() => nodes.every((node) => node.reports().length > 0));
  const many = nodes.flatMap((node) => Array.from({ length: 50 }, () => client(node)));
  await until(() => most >= 115);
  endsAt = performance.now() + 1_000;
  await Promise.all([...few, ...many]);
  expect(most).toBeLessThanOrEqual(120);
});

it('many nodes use a budget up to the last token, and no further', async () => {
  const { use, addNode } = await start();
  const nodes = await Promise.all(Array.from({ length: 4 }, addNode));
  const budget = [keyWith({ tokensPerDay: 20_000 }), owner];
  let served = 0;
  const client = async ({ keeper }: LimitNode): Promise<void> => {
    for (;;) {
      const verdict = await keeper.reserve(budget, { tokens: 10, cost: 0 });
      if (verdict.granted) {
        served++;
        if (served % 3 === 0) await pause(1);
        verdict.reservation.commit({ tokens: 10, cost: 0 });
      } else if (verdict.error.code === 'insufficient_quota') return;
      else await pause(20);
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: 8 }, () => client(node))));
  expect(served).toBe(2_000);
  expect(nodes.some(({ reports }) => reports().length > 0)).toBe(true);
  const [first] = budget;
  if (first) await until(async () => expect((await use(first)).day.spent.tokens).toBe(20_000));
});

describe('a share', () => {
  it('is not drawn on while Redis is away', async () => {
    const { node } = await start();
    await warm(node, [key], amount);
    node.connection.close();
    await until(() => node.redis.status !== 'ready');
    await expect(node.keeper.reserve([key], amount)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('is reported once, also when the answer was lost', async () => {
    const { node, use } = await start();
    const served = await warm(node, [key], amount);
    const { redis } = node;
    const evalsha = redis.evalsha.bind(redis);
    vi.spyOn(redis, 'evalsha').mockImplementationOnce(async (...args) => {
      await evalsha(...args);
      throw new Error('the answer was lost');
    });
    await until(async () => expect((await use(key)).day.spent.tokens).toBe(served * 100));
    await until(() => node.keeper.uncommitted === 0);
    expect((await use(key)).day.spent.tokens).toBe(served * 100);
  });

  it('that Redis has lost is made anew with what runs, and what is spent is counted', async () => {
    const { node, use, redis, ids, prefix } = await start();
    await warm(node, [key], amount);
    const running = await node.keeper.reserve([key], { tokens: 70, cost: 0 });
    await until(() => node.keeper.uncommitted === 0);
    await until(async () => (await use(key)).active === 1);
    await redis.del(...(await redis.keys(`${prefix}limit:*`)));
    const [first] = await Promise.all(Array.from({ length: 3 }, () => node.keeper.reserve([key], amount)));
    if (first?.granted) first.reservation.commit({ tokens: 5, cost: 0 });
    await until(async () => {
      const { day, active } = await use(key);
      expect([day.spent.tokens, active]).toEqual([5, 3]);
      expect(day.reserved.tokens).toBeGreaterThanOrEqual(70 + 200);
    });
    if (running.granted) running.reservation.commit({ tokens: 60, cost: 0 });
    await until(async () => expect((await use(key)).day.spent.tokens).toBe(65));
    expect((await ids()).length).toBeGreaterThan(0);
  });

  it('is not kept where a report is missing, as after a failover: only what runs is', async () => {
    const { prefix, use, redis } = await openLimitKeeper();
    const lua = new URL('../../../../shared/accounts/limits/lua/', import.meta.url);
    const script = new RedisScript(new URL('reservations.lua', lua), new URL('share.lua', lua));
    const none = { requests: 0, tokens: 0, cost: 0, places: 0 };
    const report = async (number: number, fields: object): Promise<unknown> => {
      const same = { prefix: `${prefix}limit:`, id: 's1', number, keepMs: 60_000, parties: [toScriptParty(key)] };
      const still = { begun: 0, running: 0, spent: nothing, drawn: nothing, free: none, least: none };
      const reply = (await script.run(redis, { args: { ...same, ...still, ...fields } })) as unknown[];
      return reply.slice(0, 5);
    };
    const free = { requests: 10, tokens: 1_000, cost: 0, places: 0 };
    const least = { requests: 1, tokens: 100, cost: 0, places: 0 };
    expect(await report(1, { more: free, least })).toEqual([0, 1, 10, 1_000, 0]);
    expect(await report(2, { free, least })).toEqual([1, 1, 0, 0, 0]);
    expect((await use(key)).day.reserved.tokens).toBe(1_000);
    expect(await report(4, { free, least, running: 1, drawn: { tokens: 70, cost: 0 } })).toEqual([0, 1, 0, 0, 0]);
    expect(await use(key)).toMatchObject({ day: { reserved: { tokens: 70 } }, buckets: { requests: 0 } });
  });

  it('of a dead node counts until its time is over, and not after', async () => {
    const { node, use } = await start({ reservationMs: 4_000, renewEveryMs: 1_000 });
    const served = await warm(node, [key], amount);
    await until(() => node.keeper.uncommitted === 0);
    node.connection.close();
    expect((await use(key)).day.reserved.tokens).toBeGreaterThan(0);
    await until(async () => (await use(key)).day.reserved.tokens === 0);
    expect(await use(key)).toMatchObject({ active: 0, day: { spent: { tokens: served * 100 } } });
  });

  it('is given back when its node ends', async () => {
    const { node, use, ids } = await start();
    const served = await warm(node, [key], amount);
    await node.keeper.close();
    expect(await ids()).toEqual([]);
    expect((await use(key)).day).toEqual({ spent: { tokens: served * 100, cost: served * 1_000 }, reserved: nothing });
  });
});
