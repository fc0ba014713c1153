import { describe, expect, it } from 'vitest';
import { classOrder } from '#shared/broker/worker/lane-pull.ts';

describe('the order in which lanes are looked at', () => {
  const firsts = Array.from({ length: 1_600 }, (_, scan) => classOrder(scan + 1)[0]);
  const share = (name: string): number => firsts.filter((first) => first === name).length / firsts.length;

  it('puts high first, but normal in about one scan of five and low in one of sixteen', () => {
    expect(share('high')).toBeCloseTo(0.75, 2);
    expect(share('normal')).toBeCloseTo(0.1875, 2);
    expect(share('low')).toBeCloseTo(0.0625, 2);
  });

  it('always holds every class once', () => {
    for (let scan = 1; scan <= 16; scan += 1) expect(classOrder(scan).toSorted()).toEqual(['high', 'low', 'normal']);
  });
});
