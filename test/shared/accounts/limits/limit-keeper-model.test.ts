import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Limits, PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Amount } from '#shared/accounts/limits/party-use.ts';
import { openLimitKeeper } from '../../../helpers/accounts/open-limit-keeper.ts';

/** The meaning of the limits, in the simplest form. Costs are nano-dollars. */
class Model {
  readonly spent = new Map<string, Amount>();
  reservations: ModelReservation[] = [];

  fits(parties: readonly PartyLimits[], amount: Amount): boolean {
    return parties.every(({ party, limits }) => {
      const { active, tokens, cost } = this.of(party);
      const { concurrentRequests, tokensPerDay, tokensPerMonth, costPerDay, costPerMonth } = limits;
      const within = (limit: number | undefined, used: number, wanted: number): boolean =>
        limit === undefined || wanted === 0 || used + wanted <= limit;
      return (
        within(concurrentRequests, active, 1) &&
        within(tokensPerDay, tokens, amount.tokens) &&
        within(tokensPerMonth, tokens, amount.tokens) &&
        within(costPerDay && Math.round(costPerDay * 1e9), cost, amount.cost) &&
        within(costPerMonth && Math.round(costPerMonth * 1e9), cost, amount.cost)
      );
    });
  }

  /** The use of a party's limits: spent, and reserved by requests in force. */
  of(party: string): { active: number } & Amount {
    const { tokens, cost } = this.spent.get(party) ?? { tokens: 0, cost: 0 };
    const mine = this.reservations.filter(({ parties, inForce }) => inForce && parties.includes(party));
    const sum = (of: (amount: Amount) => number): number => mine.reduce((total, { amount }) => total + of(amount), 0);
    return { active: mine.length, tokens: tokens + sum((each) => each.tokens), cost: cost + sum((each) => each.cost) };
  }

  commit(reservation: ModelReservation, { tokens, cost }: Amount): void {
    for (const party of reservation.parties) {
      const before = this.spent.get(party) ?? { tokens: 0, cost: 0 };
      this.spent.set(party, { tokens: before.tokens + tokens, cost: before.cost + cost });
    }
    this.reservations = this.reservations.filter((each) => each !== reservation);
  }
}

interface ModelReservation {
  id: string;
  parties: readonly string[];
  amount: Amount;
  inForce: boolean;
  real: Reservation;
}

// A limit does not refuse a request that needs nothing of it, whatever is used up.
const some = fc.oneof(fc.constant(0), fc.nat(40));
const amount = fc.record({ tokens: some, cost: some });
const optional = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: undefined });
const dollars = (nano: number | undefined) => nano && nano / 1e9;
const limits = fc.record({
  concurrentRequests: optional(4),
  tokensPerDay: optional(120),
  tokensPerMonth: optional(150),
  costPerDay: optional(120).map(dollars),
  costPerMonth: optional(150).map(dollars),
}) as fc.Arbitrary<Limits>;
const among = fc.integer({ min: 1, max: 7 });
const which = fc.nat(20);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('reserve' as const), among, amount }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('commit' as const), which, amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'expire' as const), which }) },
);

it('reserving, committing, releasing and expiring in any order does what a simple model does', async () => {
  const { keeper, ids, expire, redis, prefix } = await openLimitKeeper();
  await fc.assert(
    fc.asyncProperty(fc.tuple(limits, limits, limits), fc.array(step, { maxLength: 25 }), async (three, steps) => {
      const names = await redis.keys(`${prefix}*`);
      if (names.length > 0) await redis.del(...names);
      const model = new Model();
      const parties = ['key:k', 'user:u', 'team:t'] as const;
      const all = parties.map((party, at): PartyLimits => ({ party, limits: three[at] ?? {} }));
      for (const next of steps) {
        const reservation =
          'which' in next ? model.reservations[next.which % (model.reservations.length || 1)] : undefined;
        if (next.do === 'reserve') {
          const concerned = all.filter((_, index) => ((next.among >> index) & 1) === 1);
          const before = new Set(await ids());
          const verdict = await keeper.reserve(concerned, next.amount);
          expect(verdict.granted).toBe(model.fits(concerned, next.amount));
          if (verdict.granted) {
            const id = (await ids()).find((each) => !before.has(each)) ?? '';
            const facts = { id, parties: concerned.map(({ party }) => party), amount: next.amount };
            model.reservations.push({ ...facts, inForce: true, real: verdict.reservation });
          } else {
            expect(verdict.error.message).not.toBe('A limit is reached.');
          }
        } else if (next.do === 'expire' && reservation) {
          await expire(reservation.id);
          reservation.inForce = false;
        } else if (reservation) {
          const spent = next.do === 'commit' ? next.amount : { tokens: 0, cost: 0 };
          // The second call counts for nothing.
          for (let times = 0; times < 2; times++) reservation.real.commit(spent);
          model.commit(reservation, spent);
        }
        for (const use of await keeper.read(all)) {
          const { active, tokens, cost } = model.of(use.party);
          for (const period of [use.day, use.month]) {
            expect(period.spent.tokens + period.reserved.tokens).toBe(tokens);
            expect(period.spent.cost + period.reserved.cost).toBe(cost);
          }
          expect(use.active).toBe(active);
        }
      }
    }),
    { numRuns: 60 },
  );
});
