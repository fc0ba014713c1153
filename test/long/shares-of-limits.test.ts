import fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import { keyWith, nothing, openLimitKeeper } from '../helpers/accounts/open-limit-keeper.ts';
import { openLimitNode, type LimitNode } from '../helpers/accounts/open-limit-node.ts';

it('nodes never pass a limit together, in any order of requests and deaths, and nothing leaks', async () => {
  let reported = 0;
  const plan = fc.record({
    largest: fc.integer({ min: 1, max: 400 }),
    pauses: fc.array(fc.nat(12), { minLength: 5, maxLength: 20 }),
    sizes: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 20 }),
    deaths: fc.array(fc.integer({ min: 50, max: 400 }), { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ largest, pauses, sizes, deaths }) => {
      const { prefix, use, expire, ids, redis } = await openLimitKeeper(inject('redisUrl'));
      const team: PartyLimits = { party: 'team:t1', limits: { tokensPerDay: 60_000, requestsPerMinute: 6_000 } };
      const parties = ['a', 'b'].map((id) => [keyWith({ tokensPerMonth: 40_000, costPerDay: 4e-5 }, id), team]);
      /** What is spent, and what running requests have reserved, of each key. */
      const used = [noUse(), noUse()];
      const dead = new Set<LimitNode>();
      const violations: string[] = [];
      const check = (granted: number): void => {
        const [a, b] = used;
        if (!a || !b) return;
        for (const { tokens, cost } of [a, b])
          if (tokens > 40_000 || cost > 40_000) violations.push(`a key: ${tokens} tokens, ${cost} nano-dollars`);
        if (a.tokens + b.tokens > 60_000) violations.push(`the team: ${a.tokens + b.tokens} tokens`);
        if (granted > 6_000 + ((performance.now() - began) / 60_000) * 6_000) violations.push(`${granted} requests`);
      };
      let granted = 0;
      const began = performance.now();
      const nodes = await Promise.all(Array.from({ length: 4 }, () => openLimitNode(inject('redisUrl'), prefix)));
      const client = async (node: LimitNode, number: number): Promise<void> => {
        const [mine, sum] = [parties[number % 2] ?? [], used[number % 2] ?? noUse()];
        for (let turn = number; performance.now() - began < 600 && !dead.has(node); turn++) {
          const tokens = Math.ceil((sizes[turn % sizes.length] ?? 0) * largest);
          const wanted = { tokens, cost: tokens };
          const verdict = await node.keeper.reserve(mine, wanted).catch(() => undefined);
          if (verdict?.granted) {
            granted++;
            sum.tokens += tokens;
            sum.cost += tokens;
            check(granted);
          }
          await pause(pauses[turn % pauses.length] ?? 0);
          if (!verdict?.granted) continue;
          // What runs on a node when it dies stays reserved: it is not subtracted.
          if (dead.has(node)) return;
          const spent = turn % 5 === 0 ? 0 : Math.floor(tokens * (sizes[(turn + 1) % sizes.length] ?? 0));
          sum.tokens += spent - tokens;
          sum.cost += spent - tokens;
          verdict.reservation.commit({ tokens: spent, cost: spent });
        }
      };
      const kill = async (after: number, index: number): Promise<void> => {
        const node = nodes[index];
        await pause(after);
        if (!node) return;
        dead.add(node);
        node.connection.close();
      };
      await Promise.all([
        ...deaths.map(kill),
        ...nodes.flatMap((node) => Array.from({ length: 6 }, (_, number) => client(node, number))),
      ]);
      expect(violations).toEqual([]);
      reported += nodes.reduce((sum, { reports }) => sum + reports().length, 0);
      for (const node of nodes) if (!dead.has(node)) await node.keeper.close();
      // Those of dead nodes alone are left. They expire, and then nothing is reserved.
      const ofDead = new Set([...dead].flatMap((node) => node.ids()));
      const left = await ids();
      expect(left.filter((id) => !ofDead.has(id))).toEqual([]);
      await expire(...left);
      for (const each of [...parties.flatMap(([first]) => first ?? []), team]) {
        const { active, day, month } = await use(each);
        expect([active, day.reserved, month.reserved]).toEqual([0, nothing, nothing]);
      }
      const held = await redis.hgetall(`${prefix}limit:team:t1`);
      expect(Object.keys(held).filter((name) => name.startsWith('share:'))).toEqual([]);
    }),
    { numRuns: 12 },
  );
  // Otherwise no share was under test.
  expect(reported).toBeGreaterThan(60);
});

function noUse() {
  return { tokens: 0, cost: 0 };
}
