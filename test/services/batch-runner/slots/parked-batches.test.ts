import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ParkedBatches } from '#services/batch-runner/slots/parked-batches.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { until } from '../../../helpers/until.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

let called: string[];
let hasRoom: boolean;
let batch: Partial<BatchRecord>;
let waits: number;
let parked: ParkedBatches;
beforeEach(() => {
  called = [];
  hasRoom = false;
  batch = { state: 'running', expiresAt: Date.now() + 3_600_000 };
  waits = 0;
  parked = new ParkedBatches({
    batches: { find: () => Promise.resolve(batch as BatchRecord) },
    jobs: { tryNow: async ({ id }) => called.push(id) > 0 },
    slots: { hasRoom: () => hasRoom },
    waitingWork: { setTiers: (_line, { length }) => void (waits = length) },
    atOnce: 2,
    log: silentLog,
  });
  // The test calls `check` itself.
  parked.close();
  onTestFinished(() => parked.close());
});

const place = () => ({ placements: [], tiers: ['gpu' as const] });

/** Lets slices 0 and 1 leave together at 10,000 ms, and sends slices 2 to 4 away. @returns the delay of each slice */
function parkAll(): (number | undefined)[] {
  const left = [parked.park('b', 0, place, 10_000), parked.park('b', 1, place, 10_010)];
  for (const slice of [0, 1]) parked.noteLeft('b', slice, false);
  return [...left, ...[2, 3, 4].map((slice) => parked.admit('b', slice, 10_020))];
}

describe('a batch whose lines cannot run', () => {
  it('has all its slices sent away, and does not affect other batches', () => {
    for (const ms of parkAll()) {
      expect(ms).toBeGreaterThanOrEqual(10_000);
      expect(ms).toBeLessThanOrEqual(20_000);
    }
    expect(parked.admit('other', 0, 10_030)).toBeUndefined();
  });

  it('has one slice at a time recalled to try again, in order, each for a shorter while', () => {
    parkAll();
    parked.check(10_500);
    expect(called).toEqual([]);
    for (const now of [17_000, 17_500]) parked.check(now);
    expect(called).toEqual(['b-0']);
    // Another slice may come first.
    expect(parked.admit('b', 3, 17_510)).toBeUndefined();
    expect(parked.admit('b', 0, 17_520)).toBeGreaterThan(0);
    expect(parked.getSlotHoldMs('b', 3)).toBeLessThan(parked.getSlotHoldMs('b', 7));
    parked.park('b', 3, place, 18_600);
    parked.noteLeft('b', 3, false);
    parked.check(25_000);
    expect(called).toEqual(['b-0']);
    parked.check(31_500);
    expect(called).toEqual(['b-0', 'b-1']);
  });

  it('is parked for a minute at most, varied by a quarter', () => {
    let now = 10_000;
    for (let times = 0; times < 20; times += 1) {
      parked.admit('b', 0, now);
      parked.park('b', 0, place, now);
      parked.noteLeft('b', 0, false);
      now += 76_000;
    }
    expect(parked.park('b', 0, place, now)).toBeLessThanOrEqual(240_000);
    parked.check(now + 44_000);
    expect(called).toEqual([]);
    parked.check(now + 75_001);
    expect(called).toEqual(['b-0']);
  });

  it('is recalled as soon as there is room, as many slices as the runner has slots, and one more for each that ends', () => {
    parkAll();
    parked.check(10_500);
    expect(waits).toBe(1);
    hasRoom = true;
    parked.check(11_000);
    expect([called, waits]).toEqual([['b-0', 'b-1'], 0]);
    expect([0, 1].map((slice) => parked.admit('b', slice, 11_010))).toEqual([undefined, undefined]);
    parked.noteLeft('b', 0, true);
    expect(called).toEqual(['b-0', 'b-1', 'b-2']);
  });

  it('is parked again when there was room only for a moment', () => {
    parkAll();
    hasRoom = true;
    parked.check(10_500);
    hasRoom = false;
    expect(parked.admit('b', 0, 10_510)).toBeUndefined();
    parked.park('b', 0, place, 10_600);
    parked.noteLeft('b', 0, false);
    expect(parked.admit('b', 1, 10_610)).toBeGreaterThan(0);
  });

  it('is recalled when a line of the trying slice runs', () => {
    parkAll();
    expect(parked.admit('b', 3, 30_000)).toBeUndefined();
    parked.noteRunning('b', 0);
    expect(called).toEqual([]);
    parked.noteRunning('b', 3);
    expect(called).toEqual(['b-0', 'b-1']);
  });

  it('is recalled when it was cancelled', async () => {
    parkAll();
    batch = { ...batch, cancelledAt: 1 };
    parked.check(15_001);
    // At most one slice would be recalled to try.
    await until(() => called.length > 1);
    expect(called.slice(0, 2)).toEqual(['b-0', 'b-1']);
  });

  it('is recalled when its line would end with an error', () => {
    const refused = (): never => {
      throw new Error('the key may not use the model');
    };
    parked.park('b', 0, refused, 10_000);
    parked.check(10_500);
    expect(called).toEqual(['b-0']);
  });

  it('has one slice recalled to try when its pause ends, and all when that one is over', () => {
    const out = [0, 1, 2].map((slice) => parked.block('b', slice, 30_000, 10_000));
    for (const ms of [...out, parked.admit('b', 3, 10_010)]) expect(ms).toBeGreaterThanOrEqual(120_000);
    parked.check(39_900);
    expect(called).toEqual([]);
    parked.check(40_100);
    expect(called).toEqual(['b-0']);
    expect(parked.admit('b', 0, 40_200)).toBeUndefined();
    expect(parked.admit('b', 1, 40_210)).toBeGreaterThan(0);
    parked.block('b', 0, 30_000, 40_300);
    parked.noteLeft('b', 0, false);
    parked.check(70_000);
    expect(called).toEqual(['b-0']);
    expect(parked.admit('b', 2, 70_310)).toBeUndefined();
    parked.noteLeft('b', 2, true);
    expect(called).toEqual(['b-0', 'b-3', 'b-1']);
  });

  it('is recalled when another runner has ended its pause', async () => {
    batch = { ...batch, blockedUntil: Date.now() + 30_000 };
    for (const slice of [0, 1]) parked.block('b', slice, 30_000, 10_000);
    parked.check(15_001);
    batch = { ...batch, blockedUntil: undefined };
    parked.check(20_002);
    await until(() => called.length > 0);
    expect(called).toEqual(['b-0', 'b-1']);
  });

  it('is dropped when it is over', async () => {
    parkAll();
    batch = { ...batch, state: 'ended' };
    parked.check(15_001);
    await until(() => parked.admit('b', 5, 15_002) === undefined);
    expect(parked.admit('b', 6, 15_002)).toBeUndefined();
  });
});
