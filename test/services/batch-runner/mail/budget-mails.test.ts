import { expect, it } from 'vitest';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { createBudgetCheck } from '#services/batch-runner/alerts/check-budgets.ts';
import { openTestMails } from '../../../helpers/mail/open-test-mails.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';

const dollar = 1e9;

it('a person is mailed once per share of a budget and day, however many runners check', async () => {
  const { accounts, redis, deliverDue, prefix, smtp, states } = await openTestMails();
  const limits = { costPerDay: 10 };
  const address = { email: 'bob@example.com', confirmedEmail: 'bob@example.com' };
  const fields = { id: 'bob', name: 'Bob', ...address, role: 'member', passwordHash: '', epoch: 0 };
  await redis.hset(`${prefix}user:bob`, { ...fields, createdAt: 1, limits: JSON.stringify(limits) });
  await redis.zadd(`${prefix}users`, 1, 'bob');
  const keeper = stopAfterTest(new LimitKeeper(redis, prefix, silentLog));
  let newest = 0;
  const usage = { findNewest: async () => String(newest) };
  const looks = [1, 2, 3].map(() => createBudgetCheck({ accounts, issuers: () => [], limits: keeper, usage, states }));
  const spend = async (cost: number): Promise<string[]> => {
    const verdict = await keeper.reserve([{ party: 'user:bob', limits }], { tokens: 0, cost: cost * dollar });
    if (!verdict.granted) throw verdict.error;
    verdict.reservation.commit({ tokens: 0, cost: cost * dollar });
    newest += 1;
    for (let again = 0; again < 2; again += 1) await Promise.all(looks.map((look) => look()));
    const before = smtp.mails.length;
    await deliverDue();
    return smtp.mails.slice(before).map(({ headers }) => headers.get('subject') ?? '');
  };
  expect(await spend(4)).toEqual([]);
  expect(await spend(2)).toEqual(['Model Router: 50 % of a budget is used: your account']);
  expect(await spend(1)).toEqual([]);
  expect(await spend(1.5)).toEqual(['Model Router: 80 % of a budget is used: your account']);
  expect(await spend(1.45)).toEqual(['Model Router: A budget is used up: your account']);
  // Of several shares reached at once, only the largest is mailed.
  await redis.hset(`${prefix}user:bob`, { limits: JSON.stringify({ costPerDay: 11.5 }) });
  expect(await spend(0)).toEqual(['Model Router: 80 % of a budget is used: your account']);
  expect(smtp.mails[0]?.text).toContain('You have used $6.00 of the budget of $10.00');
});
