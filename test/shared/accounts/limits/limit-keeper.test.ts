import { readFileSync } from 'node:fs';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { explainRefusal } from '#shared/accounts/limits/explain-refusal.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { PartyUse } from '#shared/accounts/limits/party-use.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { beginKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { keyWith, nothing, openLimitKeeper } from '../../../helpers/accounts/open-limit-keeper.ts';
import { until } from '../../../helpers/until.ts';

const open = (times = {}) => openLimitKeeper(inject('redisUrl'), times);
const minute = 60_000;

it('a limit of requests a minute lets that many come at once, also those that cost nothing, and then one each time its share of a minute has passed', async () => {
  const { keeper, reserve, redis, prefix } = await open();
  const party = keyWith({ requestsPerMinute: 6 });
  await Promise.all(Array.from({ length: 6 }, async () => (await reserve([party])).commit(nothing)));
  const refused = await keeper.reserve([party], nothing);
  expect(refused).toMatchObject({ granted: false, error: { code: 'rate_limit_exceeded', retryAfter: 10 } });
  await redis.hincrby(`${prefix}limit:key:k1`, 'requestsAt', -10_000);
  expect((await keeper.reserve([party], nothing)).granted).toBe(true);
  expect((await keeper.reserve([party], nothing)).granted).toBe(false);
});

it('a party over its limit of requests a minute is refused for a second without a call to Redis, and no other party is', async () => {
  const { keeper, reserve } = await open();
  const [party, other] = [keyWith({ requestsPerMinute: 1 }), keyWith({ requestsPerMinute: 1 }, 'k2')];
  await reserve([party]);
  expect(keeper.knownRefusal([party])).toBeUndefined();
  const refused = await keeper.reserve([party], nothing);
  expect(refused.granted ? undefined : keeper.knownRefusal([other, party])).toBe(refused.granted || refused.error);
  expect(keeper.knownRefusal([other])).toBeUndefined();
  await until(() => keeper.knownRefusal([party]) === undefined, 5_000);
});

it('a party over another limit may still be served, so Redis is called', async () => {
  const { keeper, reserve } = await open();
  const party = keyWith({ tokensPerMinute: 1_000, concurrentRequests: 1 });
  await reserve([party], { tokens: 900, cost: 0 });
  expect((await keeper.reserve([party], { tokens: 200, cost: 0 })).granted).toBe(false);
  expect(keeper.knownRefusal([party])).toBeUndefined();
});

it('a negative amount gives nothing of a budget back', async () => {
  const { keeper, reserve } = await open();
  const party = keyWith({ tokensPerDay: 1_000 });
  (await reserve([party], { tokens: 600, cost: 0 })).commit({ tokens: 600, cost: 0 });
  (await reserve([party])).commit({ tokens: -500, cost: -1 });
  expect(await keeper.reserve([party], { tokens: 500, cost: 0 })).toMatchObject({ granted: false });
});

describe('a limit of tokens a minute', () => {
  it('counts the reservation, then the actual use', async () => {
    const { keeper, reserve } = await open();
    const party = keyWith({ tokensPerMinute: 1_000 });
    const reservation = await reserve([party], { tokens: 900, cost: 0 });
    const refused = await keeper.reserve([party], { tokens: 200, cost: 0 });
    expect(refused).toMatchObject({ granted: false, error: { code: 'token_limit_exceeded' } });
    reservation.commit({ tokens: 100, cost: 0 });
    expect((await keeper.reserve([party], { tokens: 900, cost: 0 })).granted).toBe(true);
  });

  it('counts a long request in full until it is over, so that its end makes no room twice', async () => {
    const { keeper, reserve, redis, prefix } = await open();
    const party = keyWith({ tokensPerMinute: 1_000 });
    const long = await reserve([party], { tokens: 900, cost: 0 });
    await redis.hincrby(`${prefix}limit:key:k1`, 'tokensAt', -minute);
    expect(await keeper.reserve([party], { tokens: 900, cost: 0 })).toMatchObject({ granted: false });
    long.commit(nothing);
    expect((await keeper.reserve([party], { tokens: 900, cost: 0 })).granted).toBe(true);
    expect(await keeper.reserve([party], { tokens: 900, cost: 0 })).toMatchObject({ granted: false });
  });

  it('counts a use that is higher than its reservation', async () => {
    const { keeper, reserve, use } = await open();
    const party = keyWith({ tokensPerMinute: 1_000 });
    (await reserve([party], { tokens: 10, cost: 0 })).commit({ tokens: 3_000, cost: 0 });
    expect((await use(party)).buckets.tokens).toBeGreaterThan(2_900 * minute);
    const refused = await keeper.reserve([party], { tokens: 1, cost: 0 });
    expect(refused.granted ? 0 : refused.error.retryAfter).toBeGreaterThan(115);
  });
});

it('a limit of requests at the same time frees a place when a request is over, at once', async () => {
  const { keeper, reserve } = await open();
  const party = keyWith({ concurrentRequests: 2 });
  const first = await reserve([party]);
  await reserve([party]);
  const message = expect.stringContaining('2 requests at the same time');
  const error = { code: 'rate_limit_exceeded', message };
  expect(await keeper.reserve([party], nothing)).toMatchObject({ granted: false, error });
  first.commit(nothing);
  expect((await keeper.reserve([party], nothing)).granted).toBe(true);
});

describe('a budget', () => {
  it('is refused in other words when running requests have reserved the rest than when it is used up', async () => {
    const { keeper, reserve } = await open();
    const party = keyWith({ tokensPerDay: 100 });
    const reservation = await reserve([party], { tokens: 90, cost: 0 });
    const busy = await keeper.reserve([party], { tokens: 20, cost: 0 });
    expect(busy).toMatchObject({ granted: false, error: { code: 'rate_limit_exceeded', retryAfter: 1 } });
    reservation.commit({ tokens: 90, cost: 0 });
    const spent = await keeper.reserve([party], { tokens: 20, cost: 0 });
    const message = expect.stringMatching(/^What is left of the budget is too little for this: this key may use 100/);
    expect(spent).toMatchObject({ granted: false, error: { code: 'insufficient_quota', message } });
    const secondsLeft = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
    if (!spent.granted) expect(Math.abs((spent.error.retryAfter ?? 0) - secondsLeft)).toBeLessThan(5);
  });

  it('counts amounts of many digits exactly', async () => {
    const { reserve, use } = await open();
    const party = keyWith({ costPerMonth: 9_000_000 });
    const cost = 987_654_321_012_345;
    (await reserve([party], { tokens: 1, cost })).commit({ tokens: 999_999_999_999, cost: cost + 1 });
    (await reserve([party], { tokens: 1, cost: 1 })).commit({ tokens: 2, cost: 2 });
    expect((await use(party)).month.spent).toEqual({ tokens: 1_000_000_000_001, cost: cost + 3 });
  });
});

it('an excessive amount is counted as the largest amount there is', async () => {
  const { keeper, reserve, use } = await open();
  const party = keyWith({ requestsPerMinute: 1_000 });
  const reservation = await reserve([party], { tokens: 1e300, cost: Number.POSITIVE_INFINITY });
  expect((await use(party)).day.reserved).toEqual({ tokens: 1e12, cost: 1e15 });
  reservation.commit({ tokens: 0.5, cost: 1e30 });
  expect((await use(party)).day).toEqual({ spent: { tokens: 1, cost: 1e15 }, reserved: nothing });
  expect((await keeper.reserve([party], nothing)).granted).toBe(true);
});

it('a month is that of the calendar, for any day of two centuries', async () => {
  const { redis } = await open();
  const text = readFileSync('shared/accounts/limits/lua/reservations.lua', 'utf8');
  const days = Array.from({ length: 2_000 }, (_, index) => index * 37);
  const months = await redis.eval(
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
  const { keeper } = await open();
  const verdict = await keeper.reserve([keyWith(limits)], { tokens: 101, cost: 6e8 });
  expect(verdict).toMatchObject({
    granted: false,
    error: { code: 'request_exceeds_limit', retryAfter: undefined, message: expect.stringContaining(words) },
  });
});

describe('a reservation', () => {
  it('is renewed while its node lives, and comes into force again when the renewal was late', async () => {
    const { reserve, use, ids, expire } = await open({ reservationMs: 60_000, renewEveryMs: 30 });
    const party = keyWith({ concurrentRequests: 1 });
    await reserve([party], { tokens: 7, cost: 5 });
    const [id = ''] = await ids();
    await expire(id);
    await until(async () => (await ids()).length === 1 && (await use(party)).active === 1);
    expect((await use(party)).day.reserved).toEqual({ tokens: 7, cost: 5 });
  });

  it('is free as soon as it expires, however many do so together', async () => {
    const { keeper, ids, expire } = await open();
    const party = keyWith({ concurrentRequests: 1_200 });
    const reserveAll = async (): Promise<number> => {
      let granted = 0;
      // A hundred at once, so that none waits for longer than a command may take.
      for (let hundred = 0; hundred < 12; hundred += 1) {
        const verdicts = await Promise.all(Array.from({ length: 100 }, () => keeper.reserve([party], nothing)));
        granted += verdicts.filter((verdict) => verdict.granted).length;
      }
      return granted;
    };
    expect(await reserveAll()).toBe(1_200);
    expect((await keeper.reserve([party], nothing)).granted).toBe(false);
    await expire(...(await ids()));
    expect(await reserveAll()).toBe(1_200);
    expect(await ids()).toHaveLength(1_200);
  });

  it('leaves nothing behind when it is committed', async () => {
    const { reserve, use, redis, prefix } = await open();
    const party = keyWith({ tokensPerDay: 100 });
    (await reserve([party], { tokens: 50, cost: 5 })).commit({ tokens: 1, cost: 1 });
    await use(party);
    const names = (await redis.keys(`${prefix}limit:*`)).map((name) => name.slice(prefix.length));
    const periods = ['', `:${new Date().toISOString().slice(0, 7)}`, `:${Math.floor(Date.now() / 86_400_000)}`];
    expect(names.toSorted()).toEqual(periods.map((period) => `limit:key:k1${period}`));
    for (const name of names) expect(await redis.pttl(`${prefix}${name}`)).toBeGreaterThan(0);
  });
});

it('while Redis is away a request is refused, and leaves nothing to be committed', async () => {
  const { connection, prefix } = beginKeyStore('redis://127.0.0.1:1');
  const errors: unknown[] = [];
  log.error = (...given: unknown[]) => void errors.push(given);
  const keeper = new LimitKeeper(connection.redis, prefix, log);
  onTestFinished(() => keeper.close());
  const refused = keeper.reserve([keyWith({ tokensPerDay: 10 })], nothing);
  await expect(refused).rejects.toMatchObject({ code: 'store_unavailable' });
  await keeper.close();
  expect(errors).toEqual([]);
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
  expect(explainRefusal([spentInMonth(at)], { tokens: 1, cost: 0 }).message).toBe(
    `The budget is used up: this team may use 100 tokens a month (UTC). It begins anew in ${wait}.`,
  );
});
