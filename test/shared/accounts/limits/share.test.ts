import { describe, expect, it } from 'vitest';
import { Share } from '#shared/accounts/limits/share.ts';
import { keyWith } from '../../../helpers/accounts/open-limit-keeper.ts';

const midnight = Date.UTC(2026, 11, 1);
const amount = { tokens: 100, cost: 0 };
const noon = 43_200_000;

/** A share whose first report Redis has answered, at a time of its clock, with enough for ten requests. Sent at 1,000. */
function granted(at = midnight - noon): Share {
  const share = new Share([keyWith({ tokensPerDay: 1_000_000 })], { keepMs: 60_000, renewEveryMs: 20_000 }, 0);
  for (let count = 0; count < 4; count++) share.draw(amount, 900);
  share.report(1_000);
  share.confirm(1_010, [0, 1, 10, 1_000, 0, 0, at, 0, 0, 0, 0, 1_000, 0, 0, 0, 1_000, 0, 0]);
  return share;
}

describe('a share', () => {
  it('is drawn on until it is empty', () => {
    const share = granted();
    const drawn = Array.from({ length: 12 }, () => share.draw(amount, 1_020));
    expect(drawn.filter(Boolean)).toHaveLength(10);
    expect(share.readUses()[0]?.day.reserved.tokens).toBe(1_000);
  });

  it('gets back the rest of what a request has drawn when the request ends', () => {
    const share = granted();
    expect(share.draw({ tokens: 1_000, cost: 0 }, 1_020)).toBe(true);
    expect(share.draw(amount, 1_020)).toBe(false);
    share.end({ tokens: 1_000, cost: 0 }, { tokens: 850, cost: 0 });
    expect(share.draw({ tokens: 151, cost: 0 }, 1_020)).toBe(false);
    expect(share.draw({ tokens: 150, cost: 0 }, 1_020)).toBe(true);
  });

  it('is not drawn on any more as soon as the next day may have begun for Redis', () => {
    const share = granted(midnight - 50);
    expect(share.draw(amount, 1_049)).toBe(true);
    expect(share.draw(amount, 1_050)).toBe(false);
    expect(share.isOver(1_050)).toBe(true);
  });

  it('is not drawn on when its time in Redis may soon be over', () => {
    const share = granted();
    expect(share.draw(amount, 45_999)).toBe(true);
    expect(share.draw(amount, 46_000)).toBe(false);
  });

  it('is not drawn on after a failed report until the same report is confirmed', () => {
    const share = granted();
    share.draw(amount, 1_020);
    share.end(amount, { tokens: 30, cost: 0 });
    const report = share.report(1_100);
    share.fail();
    expect(share.draw(amount, 1_110)).toBe(false);
    expect(share.report(2_200)).toBe(report);
    share.confirm(2_210, [1, 1, 0, 0, 0, 0, midnight - noon + 1_200, 0, 0, 0, 30, 970, 0, 0, 30, 970, 0, 0]);
    expect(share.draw(amount, 2_220)).toBe(true);
  });

  it('keeps nothing for requests to come once a limit is near', () => {
    const share = granted();
    share.draw(amount, 1_020);
    share.end(amount, amount);
    share.report(1_100);
    share.confirm(1_110, [1, 0, 0, 0, 0, 0, midnight - noon + 100, 0, 0, 0, 100, 900, 0, 0, 100, 900, 0, 0]);
    expect(share.isDue(1_160)).toBe(true);
    expect(share.report(1_160)).toMatchObject({
      free: { requests: 0, tokens: 0, cost: 0, places: 0 },
      more: undefined,
    });
    expect(share.draw(amount, 1_170)).toBe(false);
  });

  it('of a key with a limit of concurrent requests lets no more requests run at once than it has places', () => {
    const share = new Share([keyWith({ concurrentRequests: 100 })], { keepMs: 60_000, renewEveryMs: 20_000 }, 0);
    const none = { tokens: 0, cost: 0 };
    for (let count = 0; count < 20; count++) share.draw(none, 900);
    expect(share.report(1_000)).toMatchObject({ more: { places: 4 }, least: { places: 1 } });
    share.confirm(1_010, [0, 1, 10, 0, 0, 2, midnight - noon, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect([1, 2, 3].map(() => share.draw(none, 1_020))).toEqual([true, true, false]);
    expect(share.readUses()[0]?.active).toBe(2);
    share.end(none, none);
    expect([share.draw(none, 1_030), share.draw(none, 1_030)]).toEqual([true, false]);
    share.end(none, none);
    expect(share.report(1_200)).toMatchObject({ running: 1, free: { places: 1 } });
  });
});
