import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { HeldBatches } from '#services/batch-runner/slots/held-batches.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { createLog } from '#shared/core/log.ts';
import { until } from '../../../helpers/until.ts';

const log = createLog({ service: 'test', level: 'silent', format: 'json' });

let called: string[];
let hasRoom: boolean;
let batch: Partial<BatchRecord>;
let waits: number;
let held: HeldBatches;
beforeEach(() => {
  called = [];
  hasRoom = false;
  batch = { state: 'running', expiresAt: Date.now() + 3_600_000 };
  waits = 0;
  held = new HeldBatches({
    work: { find: () => Promise.resolve(batch as BatchRecord) },
    jobs: {
      tryNow: ({ id }) => {
        called.push(id);
        return Promise.resolve(true);
      },
    },
    slots: { hasRoom: () => hasRoom },
    waitingWork: {
      note: (_line, { length }) => {
        waits = length;
      },
    },
    atOnce: 2,
    log,
  });
  // The test says when it is looked.
  held.close();
  onTestFinished(() => held.close());
});

const place = () => ({ placements: [], tiers: ['gpu' as const] });

/** Slices 0 and 1 leave together at 10,000 ms, and slices 2 to 4 are sent away. @returns how long each is delayed */
function hold(): (number | undefined)[] {
  const left = [held.leave('b', 0, place, 10_000), held.leave('b', 1, place, 10_010)];
  for (const slice of [0, 1]) held.left('b', slice, false);
  return [...left, ...[2, 3, 4].map((slice) => held.enter('b', slice, 10_020))];
}

describe('a batch whose lines cannot run', () => {
  it('has all its slices sent away, and leaves other batches alone', () => {
    for (const ms of hold()) {
      expect(ms).toBeGreaterThanOrEqual(10_000);
      expect(ms).toBeLessThanOrEqual(20_000);
    }
    expect(held.enter('other', 0, 10_030)).toBeUndefined();
  });

  it('has one slice called at a time that tries again, each in its turn, for a shorter while', () => {
    hold();
    held.look(10_500);
    expect(called).toEqual([]);
    held.look(17_000);
    held.look(17_500);
    expect(called).toEqual(['b-0']);
    // Another one may come first.
    expect(held.enter('b', 3, 17_510)).toBeUndefined();
    expect(held.enter('b', 0, 17_520)).toBeGreaterThan(0);
    expect(held.patienceMs('b', 3)).toBeLessThan(held.patienceMs('b', 7));
    held.leave('b', 3, place, 18_600);
    held.left('b', 3, false);
    held.look(25_000);
    expect(called).toEqual(['b-0']);
    held.look(31_500);
    expect(called).toEqual(['b-0', 'b-1']);
  });

  it('is held for a minute at most, varied by a quarter', () => {
    let now = 10_000;
    for (let times = 0; times < 20; times += 1) {
      held.enter('b', 0, now);
      held.leave('b', 0, place, now);
      held.left('b', 0, false);
      now += 76_000;
    }
    expect(held.leave('b', 0, place, now)).toBeLessThanOrEqual(240_000);
    held.look(now + 44_000);
    expect(called).toEqual([]);
    held.look(now + 75_001);
    expect(called).toEqual(['b-0']);
  });

  it('is called back as soon as there is room, as many slices as the runner has places, and one more for each that ends', () => {
    hold();
    held.look(10_500);
    expect(waits).toBe(1);
    hasRoom = true;
    held.look(11_000);
    expect(called).toEqual(['b-0', 'b-1']);
    expect(waits).toBe(0);
    expect(held.enter('b', 0, 11_010)).toBeUndefined();
    expect(held.enter('b', 1, 11_010)).toBeUndefined();
    held.left('b', 0, true);
    expect(called).toEqual(['b-0', 'b-1', 'b-2']);
  });

  it('is held again when there was room for a moment only', () => {
    hold();
    hasRoom = true;
    held.look(10_500);
    hasRoom = false;
    expect(held.enter('b', 0, 10_510)).toBeUndefined();
    held.leave('b', 0, place, 10_600);
    held.left('b', 0, false);
    expect(held.enter('b', 1, 10_610)).toBeGreaterThan(0);
  });

  it('is called back when a line of the slice runs that tries again', () => {
    hold();
    expect(held.enter('b', 3, 30_000)).toBeUndefined();
    held.ran('b', 0);
    expect(called).toEqual([]);
    held.ran('b', 3);
    expect(called).toEqual(['b-0', 'b-1']);
  });

  it('is called back when it was cancelled', async () => {
    hold();
    batch = { ...batch, cancelledAt: 1 };
    held.look(15_001);
    // One slice at most would be called in order to try.
    await until(() => called.length > 1);
    expect(called.slice(0, 2)).toEqual(['b-0', 'b-1']);
  });

  it('is called back when its line would end with an error', () => {
    held.leave(
      'b',
      0,
      () => {
        throw new Error('the key may not use the model');
      },
      10_000,
    );
    held.look(10_500);
    expect(called).toEqual(['b-0']);
  });

  it('has one slice called that tries again when its pause ends, and is called back when that one is over', () => {
    const out = [0, 1, 2].map((slice) => held.block('b', slice, 30_000, 10_000));
    for (const ms of [...out, held.enter('b', 3, 10_010)]) expect(ms).toBeGreaterThanOrEqual(120_000);
    held.look(39_900);
    expect(called).toEqual([]);
    held.look(40_100);
    expect(called).toEqual(['b-0']);
    expect(held.enter('b', 0, 40_200)).toBeUndefined();
    expect(held.enter('b', 1, 40_210)).toBeGreaterThan(0);
    held.block('b', 0, 30_000, 40_300);
    held.left('b', 0, false);
    held.look(70_000);
    expect(called).toEqual(['b-0']);
    expect(held.enter('b', 2, 70_310)).toBeUndefined();
    held.left('b', 2, true);
    expect(called).toEqual(['b-0', 'b-3', 'b-1']);
  });

  it('is called back when another runner has found that its pause is over', async () => {
    batch = { ...batch, blockedUntil: Date.now() + 30_000 };
    for (const slice of [0, 1]) held.block('b', slice, 30_000, 10_000);
    held.look(15_001);
    batch = { ...batch, blockedUntil: undefined };
    held.look(20_002);
    await until(() => called.length > 0);
    expect(called).toEqual(['b-0', 'b-1']);
  });

  it('is forgotten when it is over', async () => {
    hold();
    batch = { ...batch, state: 'ended' };
    held.look(15_001);
    await until(() => held.enter('b', 5, 15_002) === undefined);
    expect(held.enter('b', 6, 15_002)).toBeUndefined();
  });
});
