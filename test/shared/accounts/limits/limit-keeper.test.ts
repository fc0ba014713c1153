import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { explainRefusal } from '#shared/accounts/limits/explain-refusal.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { PartyLimits } from '#shared/accounts/limits/limits.ts';
import type { Amount, PartyUse } from '#shared/accounts/limits/party-use.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { beginKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { keyWith, nothing, openLimitKeeper } from '../../../helpers/accounts/open-limit-keeper.ts';
import { until } from '../../../helpers/until.ts';
import { useForEach } from '../../../helpers/use-for-each.ts';

const open = useForEach(() => openLimitKeeper());
const minute = 60_000;
const tokens = (count: number): Amount => ({ tokens: count, cost: 0 });

const isGranted = async (party: PartyLimits, amount = nothing) => (await open.keeper.reserve([party], amount)).granted;

it('a limit of requests a minute lets that many come at once, also those that cost nothing, and then one each time its share of a minute has passed', async () => {
  const party = keyWith({ requestsPerMinute: 2 });
  await Promise.all(Array.from({ length: 2 }, async () => (await open.reserve([party])).commit(nothing)));
  const refused = await open.keeper.reserve([party], nothing);
  expect(refused).toMatchObject({ granted: false, error: { code: 'rate_limit_exceeded' } });
  // The clock is that of Redis, and runs on.
  const { retryAfter = 0 } = refused.granted ? {} : refused.error;
  expect(retryAfter > 20 && retryAfter <= 30).toBe(true);
  await open.redis.hincrby(`${open.prefix}limit:key:k1`, 'requestsAt', -30_000);
  expect(await isGranted(party)).toBe(true);
  expect(await isGranted(party)).toBe(false);
});

it('a party over its limit of requests a minute is refused for a second without a call to Redis, and no other party is', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const [party, other] = [keyWith({ requestsPerMinute: 1 }), keyWith({ requestsPerMinute: 1 }, 'k2')];
  await open.reserve([party]);
  expect(open.keeper.findKnownRefusal([party])).toBeUndefined();
  const refused = await open.keeper.reserve([party], nothing);
  expect(refused.granted ? undefined : open.keeper.findKnownRefusal([other, party])).toBe(
    refused.granted || refused.error,
  );
  expect(open.keeper.findKnownRefusal([other])).toBeUndefined();
  vi.advanceTimersByTime(1_000);
  expect(open.keeper.findKnownRefusal([party])).toBeUndefined();
});

it('a party over another limit may still be served, so Redis is called', async () => {
  const party = keyWith({ tokensPerMinute: 1_000, concurrentRequests: 1 });
  await open.reserve([party], tokens(900));
  expect(await isGranted(party, tokens(200))).toBe(false);
  expect(open.keeper.findKnownRefusal([party])).toBeUndefined();
});

it('a negative amount gives nothing of a budget back', async () => {
  const party = keyWith({ tokensPerDay: 1_000 });
  (await open.reserve([party], tokens(600))).commit(tokens(600));
  (await open.reserve([party])).commit({ tokens: -500, cost: -1 });
  expect(await isGranted(party, tokens(500))).toBe(false);
});

it('a limit of tokens a minute counts the reservation, then the actual use', async () => {
  const party = keyWith({ tokensPerMinute: 1_000 });
  const reservation = await open.reserve([party], tokens(900));
  const error = { code: 'token_limit_exceeded' };
  expect(await open.keeper.reserve([party], tokens(200))).toMatchObject({ granted: false, error });
  reservation.commit(tokens(100));
  expect(await isGranted(party, tokens(900))).toBe(true);
});

it('a limit of tokens a minute counts a long request in full until it is over, so that its end makes no room twice', async () => {
  const party = keyWith({ tokensPerMinute: 1_000 });
  const long = await open.reserve([party], tokens(900));
  await open.redis.hincrby(`${open.prefix}limit:key:k1`, 'tokensAt', -minute);
  expect(await isGranted(party, tokens(900))).toBe(false);
  long.commit(nothing);
  expect([await isGranted(party, tokens(900)), await isGranted(party, tokens(900))]).toEqual([true, false]);
});

it('a limit of tokens a minute counts a use that is higher than its reservation', async () => {
  const party = keyWith({ tokensPerMinute: 1_000 });
  (await open.reserve([party], tokens(10))).commit(tokens(3_000));
  expect((await open.use(party)).buckets.tokens).toBeGreaterThan(2_500 * minute);
  const refused = await open.keeper.reserve([party], tokens(1));
  expect(refused.granted ? 0 : refused.error.retryAfter).toBeGreaterThan(90);
});

it('a limit of requests at the same time frees a place when a request is over, at once', async () => {
  const party = keyWith({ concurrentRequests: 2 });
  const first = await open.reserve([party]);
  await open.reserve([party]);
  const error = { code: 'rate_limit_exceeded', message: expect.stringContaining('2 requests at the same time') };
  expect(await open.keeper.reserve([party], nothing)).toMatchObject({ granted: false, error });
  first.commit(nothing);
  expect(await isGranted(party)).toBe(true);
});

it('a budget is refused in other words when running requests have reserved the rest than when it is used up', async () => {
  const party = keyWith({ tokensPerDay: 100 });
  const reservation = await open.reserve([party], tokens(90));
  const busy = await open.keeper.reserve([party], tokens(20));
  expect(busy).toMatchObject({ granted: false, error: { code: 'rate_limit_exceeded', retryAfter: 1 } });
  reservation.commit(tokens(90));
  const spent = await open.keeper.reserve([party], tokens(20));
  const message = expect.stringMatching(/^What is left of the budget is too little for this: this key may use 100/);
  expect(spent).toMatchObject({ granted: false, error: { code: 'insufficient_quota', message } });
  const secondsLeft = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
  if (!spent.granted) expect(Math.abs((spent.error.retryAfter ?? 0) - secondsLeft)).toBeLessThan(20);
});

it('a budget counts amounts of many digits exactly', async () => {
  const party = keyWith({ costPerMonth: 9_000_000 });
  const cost = 987_654_321_012_345;
  (await open.reserve([party], { tokens: 1, cost })).commit({ tokens: 999_999_999_999, cost: cost + 1 });
  (await open.reserve([party], { tokens: 1, cost: 1 })).commit({ tokens: 2, cost: 2 });
  expect((await open.use(party)).month.spent).toEqual({ tokens: 1_000_000_000_001, cost: cost + 3 });
});

it('an excessive amount is counted as the largest amount there is', async () => {
  const party = keyWith({ requestsPerMinute: 1_000 });
  const reservation = await open.reserve([party], { tokens: 1e300, cost: Number.POSITIVE_INFINITY });
  expect((await open.use(party)).day.reserved).toEqual({ tokens: 1e12, cost: 1e15 });
  reservation.commit({ tokens: 0.5, cost: 1e30 });
  expect((await open.use(party)).day).toEqual({ spent: { tokens: 1, cost: 1e15 }, reserved: nothing });
  expect(await isGranted(party)).toBe(true);
});

it('a month is that of the calendar, for any day of two centuries', async () => {
  const text = readFileSync('shared/accounts/limits/lua/reservations.lua', 'utf8');
  const days = Array.from({ length: 2_000 }, (_, index) => index * 37);
  const months = await open.redis.eval(
    `${text}\nlocal months = {}\nfor index = 2, #ARGV do months[index - 1] = monthOf(tonumber(ARGV[index])) end\nreturn months`,
    0,
    JSON.stringify({ prefix: 'unused:' }),
    ...days,
  );
  expect(months).toEqual(days.map((day) => new Date(day * 86_400_000).toISOString().slice(0, 7)));
});

it.each([
  [{ tokensPerMinute: 100 }, '100 tokens a minute'],
  [{ tokensPerDay: 100 }, '100 tokens a day'],
  [{ costPerMonth: 0.5 }, '$0.5 a month'],
])('a request larger than a limit is refused with the limit as the reason: %j', async (limits, words) => {
  const error = { code: 'request_exceeds_limit', retryAfter: undefined, message: expect.stringContaining(words) };
  const verdict = await open.keeper.reserve([keyWith(limits)], { tokens: 101, cost: 6e8 });
  expect(verdict).toMatchObject({ granted: false, error });
});

it('a reservation is renewed while its node lives, and comes into force again when the renewal was late', async () => {
  const { reserve, use, ids, expire } = await openLimitKeeper(undefined, { reservationMs: 60_000, renewEveryMs: 30 });
  const party = keyWith({ concurrentRequests: 1 });
  await reserve([party], { tokens: 7, cost: 5 });
  const [id = ''] = await ids();
  await expire(id);
  await until(async () => (await ids()).length === 1 && (await use(party)).active === 1);
  expect((await use(party)).day.reserved).toEqual({ tokens: 7, cost: 5 });
});

it('a reservation is free as soon as it expires, however many do so together', async () => {
  const party = keyWith({ concurrentRequests: 1_200 });
  const reserveAll = async (): Promise<number> => {
    const verdicts = await Promise.all(Array.from({ length: 1_200 }, () => open.keeper.reserve([party], nothing)));
    return verdicts.filter(({ granted }) => granted).length;
  };
  expect(await reserveAll()).toBe(1_200);
  expect(await isGranted(party)).toBe(false);
  await open.expire(...(await open.ids()));
  expect(await reserveAll()).toBe(1_200);
  expect(await open.ids()).toHaveLength(1_200);
});

it('a reservation leaves nothing behind when it is committed', async () => {
  const party = keyWith({ tokensPerDay: 100 });
  (await open.reserve([party], { tokens: 50, cost: 5 })).commit({ tokens: 1, cost: 1 });
  await open.use(party);
  const names = (await open.redis.keys(`${open.prefix}limit:*`)).map((name) => name.slice(open.prefix.length));
  const periods = ['', `:${new Date().toISOString().slice(0, 7)}`, `:${Math.floor(Date.now() / 86_400_000)}`];
  expect(names.toSorted()).toEqual(periods.map((period) => `limit:key:k1${period}`));
  for (const name of names) expect(await open.redis.pttl(`${open.prefix}${name}`)).toBeGreaterThan(0);
});

it('while Redis is away a request is refused, and leaves nothing to be committed', async () => {
  const { connection, prefix } = beginKeyStore('redis://127.0.0.1:1');
  const log = silentLog.child({});
  const error = vi.spyOn(log, 'error');
  const keeper = stopAfterTest(new LimitKeeper(connection.redis, prefix, log));
  const refused = keeper.reserve([keyWith({ tokensPerDay: 10 })], nothing);
  await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' });
  await keeper.close();
  expect(error).not.toHaveBeenCalled();
});

it('use that is not counted is logged once until all other use is committed', async () => {
  const log = silentLog.child({});
  const error = vi.spyOn(log, 'error');
  // Redis loses the replies of reservations, and answers commits late.
  const noReply = Promise.reject(new Error('no reply'));
  noReply.catch(() => undefined);
  const commits: (() => void)[] = [];
  const run = (_script: string, _keys: number, args: string) =>
    args.includes('parties') ? noReply : new Promise((resolve) => void commits.push(() => resolve([1])));
  const redis = { status: 'ready', on: () => undefined, off: () => undefined, eval: run, evalsha: run };
  const keeper = new LimitKeeper(redis as unknown as Redis, 'test:', log);
  onTestFinished(async () => {
    for (const answer of commits) answer();
    await keeper.close();
  });
  const party = [keyWith({ tokensPerDay: 10 })];
  const loseReplies = async (count: number): Promise<void> => {
    await Promise.allSettled(Array.from({ length: count }, () => keeper.reserve(party, nothing)));
  };
  await loseReplies(100_001);
  expect(keeper.uncommitted).toBe(100_000);
  commits[0]?.();
  await until(() => keeper.uncommitted === 99_999);
  await loseReplies(2);
  expect([keeper.uncommitted, error.mock.calls.length]).toEqual([100_000, 1]);
});

function spentInMonth(at: string): PartyUse {
  const day = { spent: nothing, reserved: nothing };
  const use = { buckets: { requests: 0, tokens: 0 }, active: 0, day };
  const month = { ...day, spent: { tokens: 100, cost: 0 } };
  return { party: 'team:t1', limits: { tokensPerMonth: 100 }, at: Date.parse(at), ...use, month };
}

it.each([
  ['2026-11-05T00:00:00Z', '26 days'],
  ['2026-11-30T00:00:00Z', '24 hours'],
  ['2026-11-30T23:30:00Z', '30 minutes'],
  ['2026-11-30T23:59:30Z', '30 s'],
])('explainRefusal says at %s that the budget of the month begins anew in %s', (at, wait) => {
  const said = `The budget is used up: this team may use 100 tokens a month (UTC). It begins anew in ${wait}.`;
  expect(explainRefusal([spentInMonth(at)], tokens(1)).message).toBe(said);
});
