import { describe, expect, it, vi } from 'vitest';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import { createServiceIdentity } from '#shared/accounts/sign-in/token-issuers/service-identity.ts';
import type { ServiceAccount } from '#shared/accounts/sign-in/token-issuers/token-issuer.ts';
import { createBudgetCheck } from '#services/batch-runner/alerts/check-budgets.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { openAlerts } from '../../../helpers/webhooks/open-test-webhooks.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const dollar = 1e9;

/** Opens a cluster of its own with budgets and a webhook of the router for them. */
async function open(events = 'rtr.budget.*') {
  const alerts = await openAlerts(events);
  const { accounts, redis, prefix, states } = alerts;
  const keeper = stopAfterTest(new LimitKeeper(redis, prefix, silentLog));
  const reading = vi.spyOn(keeper, 'read');
  let newest = 0;
  const services: ServiceAccount[] = [];
  const look = () =>
    createBudgetCheck({
      accounts,
      issuers: () => [{ rules: services.map((serviceAccount) => ({ match: [], serviceAccount })) }],
      limits: keeper,
      usage: { findNewest: async () => String(newest) },
      states,
    });
  return {
    ...alerts,
    look,
    refused: keeper.refusedBudgets,
    services,
    reads: () => reading.mock.calls.length,
    /** Adds a team with limits. @returns the team and its party */
    addTeam: async (limits: PartyLimits['limits'], name = 'Blue') => {
      const team = await accounts.teams.create(name);
      await accounts.teams.change(team.id, { limits });
      return { ...team, party: { party: `team:${team.id}`, limits } as const };
    },
    spend: async (party: PartyLimits, { tokens = 0, cost = 0 }: { tokens?: number; cost?: number }) => {
      const verdict = await keeper.reserve([party], { tokens, cost });
      if (!verdict.granted) throw verdict.error;
      verdict.reservation.commit({ tokens, cost });
      newest += 1;
    },
  };
}

describe('the use of a budget', () => {
  it('is reported once per share and day, to its owner and to the router, however many runners check it', async () => {
    const { accounts, add, addTeam, look, spend, sent } = await open();
    const { party, ...team } = await addTeam({ costPerDay: 10 });
    const events = ['rtr.budget.*'];
    const { endpoint: blue } = await add('https://b.example.com', { owner: `team:${team.id}`, events });
    const other = await accounts.teams.create('Red');
    const { endpoint: red } = await add('https://c.example.com', { owner: `team:${other.id}`, events });
    const lookers = [look(), look(), look()];
    const lookAll = () => Promise.all(lookers.map((each) => each()));

    await spend(party, { cost: 4 * dollar });
    await lookAll();
    expect(await sent(blue.id)).toEqual([]);

    await spend(party, { cost: 2 * dollar });
    await lookAll();
    await lookAll();
    const today = new Date().toISOString().slice(0, 10);
    const of = { id: team.id, kind: 'team', name: 'Blue', budget: 'costPerDay', limit: 10, period: today };
    const tomorrow = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400;
    const half = { type: 'rtr.budget.threshold', data: { ...of, percent: 50, used: 6, resets_at: tomorrow } };
    expect(await sent(blue.id)).toEqual([half]);
    expect(await sent()).toEqual([half]);

    // The shares in between are reported, too, when a budget is exhausted at once.
    await spend(party, { cost: 4 * dollar });
    await lookAll();
    const types = (await sent(blue.id)).map(({ type, data }) => [type, 'percent' in data && data.percent].join(' '));
    const all = ['rtr.budget.exhausted false', 'rtr.budget.threshold 50', 'rtr.budget.threshold 80'];
    expect(types.toSorted()).toEqual(all);

    // A larger budget counts as a new one.
    await accounts.teams.change(team.id, { limits: { costPerDay: 20 } });
    await lookAll();
    expect(await sent(blue.id)).toHaveLength(4);
    const larger = { ...of, limit: 20, percent: 50, used: 10, resets_at: tomorrow };
    expect(await sent(blue.id)).toContainEqual({ type: 'rtr.budget.threshold', data: larger });
    expect(await sent(red.id)).toEqual([]);
  });

  it('of a key is reported to the owner of the key, per month too, and not after the key is revoked', async () => {
    const { accounts, add, look, spend, sent, store } = await open();
    const team = await accounts.teams.create('Blue');
    const limits = { tokensPerMonth: 1_000 };
    const settings = { kind: 'team', ownerId: team.id, class: 'normal', limits } as const;
    const make = async (name: string) => made(await createOwnedKey(store, { ...settings, name })).record.id;
    const [used, revoked] = [await make('used'), await make('revoked')];
    const events = ['rtr.budget.threshold'];
    const { endpoint } = await add('https://a.example.com', { owner: `team:${team.id}`, events });
    for (const id of [used, revoked]) await spend({ party: `key:${id}`, limits }, { tokens: 500 });
    await store.revoke(revoked, Date.now());
    await look()();
    const data = { id: used, kind: 'key', name: 'used', budget: 'tokensPerMonth', used: 500, percent: 50 };
    expect(await sent(endpoint.id)).toMatchObject([{ data }]);
  });

  it('of a service account is reported to the router, once however many rules name the account', async () => {
    const { look, services, spend, sent } = await open();
    const account: ServiceAccount = { name: 'ci', class: 'low', limits: { costPerMonth: 10 } };
    services.push(account, account, { name: 'unlimited', class: 'low', limits: {} });
    for (const party of createServiceIdentity(account).limits) await spend(party, { cost: 6 * dollar });
    await look()();
    const data = { id: 'service:ci', kind: 'key', name: 'ci', budget: 'costPerMonth', used: 6, percent: 50 };
    expect(await sent()).toMatchObject([{ data }]);
  });

  it('counts as used up from the first request that it refuses, once in its period', async () => {
    const { addTeam, look, spend, sent } = await open('rtr.budget.exhausted');
    // Not the daily budget: checks reach five minutes ahead.
    const { party, ...team } = await addTeam({ costPerMonth: 10, tokensPerMonth: 1_000_000 });
    const lookAt = look();
    await spend(party, { cost: 9.6 * dollar });
    const start = Date.now();
    await lookAt(start);
    // Larger than the whole budget, which shows nothing about the rest.
    await expect(spend(party, { cost: 20 * dollar })).rejects.toThrow('may come to $20');
    await lookAt(start + 200_000);
    expect(await sent()).toEqual([]);
    for (let again = 0; again < 3; again += 1) {
      await expect(spend(party, { cost: 0.8 * dollar, tokens: 5 })).rejects.toThrow('What is left of the budget');
      await lookAt(start + 300_000 + again);
      await look()();
    }
    const data = { id: team.id, budget: 'costPerMonth', limit: 10, used: 9.6 };
    expect(await sent()).toMatchObject([{ type: 'rtr.budget.exhausted', data }]);
  });

  it('counts as used up only in the day in which it has refused a request', async () => {
    const { addTeam, look, refused, sent } = await open('rtr.budget.exhausted');
    const team = await addTeam({ costPerDay: 10 });
    const budget = { party: team.party.party, name: 'costPerDay', set: 10 } as const;
    // The day ends between the read of its refusals and the read of its use.
    const yesterday = Date.now() - 24 * 3_600_000;
    refused.note([budget], yesterday);
    await look()(yesterday);
    expect(await sent()).toEqual([]);
    refused.note([budget], Date.now());
    await look()();
    expect(await sent()).toMatchObject([{ type: 'rtr.budget.exhausted', data: { id: team.id, used: 0 } }]);
  });

  it('is not read again when the last request was minutes ago', async () => {
    const { addTeam, look, spend, reads } = await open();
    const { party } = await addTeam({ tokensPerDay: 10 });
    const lookAt = look();
    const start = Date.now();
    for (const ms of [0, 60_000, 119_000, 121_000, 300_000]) await lookAt(start + ms);
    expect(reads()).toBe(3);
    await spend(party, { tokens: 1 });
    await lookAt(start + 301_000);
    expect(reads()).toBe(4);
  });
});
