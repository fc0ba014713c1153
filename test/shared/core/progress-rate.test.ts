import { describe, expect, it } from 'vitest';
import { ProgressRate } from '#shared/core/progress-rate.ts';

const start = Date.UTC(2026, 10, 24);

/** The rate after these samples, each `<second>:<done>`. */
function rateOf(...looks: string[]): ProgressRate {
  const rate = new ProgressRate();
  for (const [second = 0, done = 0] of looks.map((look) => look.split(':').map(Number)))
    rate.addSample(done, start + second * 1_000);
  return rate;
}

describe('the rate of progress', () => {
  it('is unknown before two samples', () => {
    for (const looks of [[], ['0:5'], ['0:5', '0:6']]) expect(rateOf(...looks).perSecond).toBeUndefined();
  });

  it('is the rate since the begin, until there is a sample from a minute ago', () => {
    expect(rateOf('0:0', '3600:7200').perSecond).toBe(2);
    expect(rateOf('0:0', '3600:7200', '3630:7500', '3660:7800').perSecond).toBe(10);
  });

  it('is known from the first sample on if the begin is known', () => {
    const rate = new ProgressRate(start);
    rate.addSample(50, start + 10_000);
    expect(rate.perSecond).toBe(5);
  });

  it.each([
    [14_400, '1,440 a second'],
    [10, '1 a second'],
    [5, '30 a minute'],
    [0.1, '36 an hour'],
    [0, undefined],
  ])('is given in the unit that fits: %d in ten seconds', (done, text) => {
    const rate = new ProgressRate(start);
    rate.addSample(done, start + 10_000);
    expect(rate.text).toBe(text);
  });

  it('gives the time when everything is done, unless nothing progresses', () => {
    expect(rateOf('0:0', '10:50').estimateEnd(100)).toBe(start + 20_000);
    expect(rateOf('0:50', '10:50').estimateEnd(100)).toBeUndefined();
    expect(rateOf('0:0', '10:100').estimateEnd(100)).toBe(start + 10_000);
  });

  it('restarts when the clock was set back, or less is done than before', () => {
    expect(rateOf('0:0', '10:50', '5:60').perSecond).toBeUndefined();
    expect(rateOf('0:0', '10:50', '20:0', '30:10').perSecond).toBe(1);
  });
});
