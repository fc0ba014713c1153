import { expect, it } from 'vitest';
import { explainRefusal } from '#shared/accounts/limits/explain-refusal.ts';
import type { PartyUse } from '#shared/accounts/limits/party-use.ts';

const nothing = { spent: { tokens: 0, cost: 0 }, reserved: { tokens: 0, cost: 0 } };

function spentInMonth(at: string): PartyUse {
  const use = { buckets: { requests: 0, tokens: 0 }, active: 0, day: nothing };
  const month = { ...nothing, spent: { tokens: 100, cost: 0 } };
  return { party: 'team:t1', limits: { tokensPerMonth: 100 }, at: Date.parse(at), ...use, month };
}

it.each([
  ['2026-11-05T00:00:00Z', '26 days'],
  ['2026-11-30T00:00:00Z', '24 hours'],
  ['2026-11-30T23:30:00Z', '30 minutes'],
  ['2026-11-30T23:59:30Z', '30 s'],
])('explainRefusal says at %s that the budget of the month begins anew in %s', (at, wait) => {
  expect(explainRefusal([spentInMonth(at)], { tokens: 1, cost: 0 }).message).toBe(
    `The budget is used up: this team may use 100 tokens a month (UTC). It begins anew in ${wait}.`,
  );
});
