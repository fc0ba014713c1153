import { beforeEach, describe, expect, it } from 'vitest';
import { SignInGuard } from '#shared/accounts/sign-in/sign-in-guard.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { passTime } from '../../../helpers/pass-time.ts';

const minute = 60_000;
const [ada, address] = ['ada@example.com', '10.0.0.1'];
const open = useKeyStore();
let guard: SignInGuard;

beforeEach(() => {
  guard = new SignInGuard(open.redis, open.prefix);
  passTime(0);
});
const take = (email = ada, from = address, device?: string) => guard.take({ address: from, email, device });

/** Takes tries until one is refused, and returns how many were allowed and how many minutes there are to wait. */
async function useUp(email = ada, from = address) {
  for (let allowed = 0; ; allowed += 1) {
    const { waitMs } = await take(email, from);
    if (waitMs > 0) return { allowed, minutes: waitMs / minute };
  }
}

describe('SignInGuard', () => {
  it('refuses for 15 minutes, then 30, then an hour each time', async () => {
    for (const minutes of [15, 30, 60, 60]) {
      expect(await useUp()).toEqual({ allowed: 10, minutes });
      passTime((minutes - 1) * minute);
      expect(await useUp()).toEqual({ allowed: 0, minutes: 1 });
      passTime(minute);
    }
  });

  it('counts only the tries of the last 15 minutes, also after a refusal', async () => {
    expect(await useUp()).toEqual({ allowed: 10, minutes: 15 });
    passTime(15 * minute);
    for (let n = 0; n < 5; n += 1) expect(await take()).toMatchObject({ waitMs: 0 });
    passTime(15 * minute);
    // The second refusal is longer all the same.
    expect(await useUp()).toEqual({ allowed: 10, minutes: 30 });
  });

  it('reports once that a refusal begins', async () => {
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => take()));
    expect(outcomes.filter(({ waitMs }) => waitMs === 0)).toHaveLength(10);
    expect(outcomes.filter(({ isNews }) => isNews)).toHaveLength(1);
  });

  it('marks ten refusals of an hour as news, however many begin', async () => {
    const begin = async (n: number) => {
      for (let m = 0; m < 50; m += 1) await take(`${n}@example.com`, `10.0.1.${m}`);
      return take(`${n}@example.com`, '10.0.2.1');
    };
    const outcomes = [];
    for (let n = 0; n < 15; n += 1) outcomes.push(await begin(n));
    expect(outcomes.map(({ isNews }) => isNews)).toEqual(outcomes.map((_, n) => n < 10));
    for (const { waitMs } of outcomes) expect(waitMs).toBe(15 * minute);
    expect(await open.redis.pttl(`${open.prefix}sign-in-refusals`)).toBeGreaterThan(55 * minute);
  });

  it('does not count tries that could not be checked', async () => {
    await take();
    for (let n = 0; n < 20; n += 1) {
      expect(await take()).toMatchObject({ waitMs: 0 });
      await guard.withdraw({ address, email: ada });
    }
    expect(await useUp()).toMatchObject({ allowed: 9 });
  });

  it('drops the tries at an account from an address that has signed in to it, not those of others', async () => {
    for (let n = 0; n < 10; n += 1) await take();
    await guard.giveBack({ address, email: ada });
    // With the nine before the first success, fifty are made at the account.
    for (const [at, allowed] of [10, 10, 10, 10, 1, 0].entries())
      expect(await useUp(ada, `10.0.0.${at + 1}`)).toMatchObject({ allowed });
  });

  it('lets ten people of an office mistype ten times, and the next one in', async () => {
    for (let person = 0; person < 9; person += 1)
      expect(await useUp(`p${person}@example.com`)).toMatchObject({ allowed: 10 });
    expect(await take()).toMatchObject({ waitMs: 0 });
  });

  it('refuses an address after a hundred attempts at many accounts, and locks out no other address', async () => {
    for (let n = 0; n < 100; n += 1) expect(await take(`p${n}@example.com`)).toMatchObject({ waitMs: 0 });
    expect(await take()).toMatchObject({ isNews: true });
    expect(await take(ada, '10.0.0.2')).toMatchObject({ waitMs: 0 });
  });

  it('lets a browser in that is known to the account, whatever others do, ten times', async () => {
    for (let n = 0; n < 60; n += 1) await take(ada, `10.0.1.${n}`);
    expect(await take()).not.toMatchObject({ waitMs: 0 });
    const known = (email = ada) => take(email, address, 'known');
    for (let n = 0; n < 10; n += 1) expect(await known()).toMatchObject({ waitMs: 0 });
    expect(await known()).toMatchObject({ waitMs: 15 * minute });
    // It has no more tries at another account, to which it has not signed in.
    expect(await known('bob@example.com')).toMatchObject({ waitMs: 0 });
  });

  it('counts a whole /64 of IPv6 as one address, and drops its tries after a while', async () => {
    for (let n = 0; n < 10; n += 1) await take(ada, `2001:db8::${n}`);
    expect(await take(ada, '2001:db8::ffff')).toMatchObject({ isNews: true });
    expect(await take(ada, '2001:db8:0:1::1')).toMatchObject({ waitMs: 0 });
    const names = await open.redis.keys(`${open.prefix}sign-ins:*`);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(await open.redis.pttl(name)).toBeGreaterThan(0);
    expect(names.join()).not.toContain('example.com');
  });
});
