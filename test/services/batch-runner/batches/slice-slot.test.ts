import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { RunningLines } from '#services/batch-runner/batches/running-lines.ts';
import { SliceSlot, type SlicePause } from '#services/batch-runner/batches/slice-slot.ts';
import type { LinePlace } from '#services/batch-runner/lines/line-place.ts';
import { until } from '../../../helpers/until.ts';

let running: RunningLines;
let pauses: SlicePause[];
/** Calls of `isWanted`. */
let asked: number;
let sliceSlot: SliceSlot;
beforeEach(() => {
  running = new RunningLines();
  pauses = [];
  asked = 0;
  sliceSlot = new SliceSlot({
    parked: { getSlotHoldMs: () => 1, noteRunning: () => undefined, park: () => 1 },
    runningLines: running,
    batch: 'b',
    slice: 0,
    onPaused: async (pause) => void pauses.push(pause),
    isWanted: async () => {
      asked += 1;
      return false;
    },
    onLeave: () => undefined,
  });
  onTestFinished(() => sliceSlot.close());
});

const absent = (): LinePlace => ({ placements: [], tiers: ['gpu'], explainLack: () => 'No worker.' });

async function askedTwiceMore(): Promise<void> {
  const before = asked;
  await until(() => asked >= before + 2);
}

it('a slice whose lines all wait reports a missing worker, also if no other slice waits for its slot', async () => {
  sliceSlot.addLine().wait(absent);
  await until(() => pauses.length >= 2);
  expect(pauses[0]).toMatchObject({ reason: 'No worker.', lacksWorker: true });
});

it('a slice whose lines all wait reports the limit that ends first, if a line waits for one', async () => {
  sliceSlot.addLine().wait(absent);
  for (const untilMs of [9_000, 7_000])
    sliceSlot
      .addLine()
      .wait(() => ({ placements: [], tiers: [], limit: { until: untilMs, reason: `until ${untilMs}` } }));
  await until(() => pauses.length > 0);
  expect(pauses[0]).toEqual({ reason: 'until 7000', until: 7_000, lacksWorker: false });
});

it('a slice whose lines all wait reports no pause while lines of other slices of its batch run', async () => {
  const other = running.begin('b');
  sliceSlot.addLine().wait(absent);
  await askedTwiceMore();
  expect(pauses).toEqual([]);
  other();
  await until(() => pauses.length > 0);
});

it('a slice whose lines all wait reports no pause while lines only wait for slots that are taken', async () => {
  sliceSlot.addLine().wait(() => ({ model: 'm', placements: [], tiers: [] }));
  await askedTwiceMore();
  expect(pauses).toEqual([]);
});

it('a line counts as running from the time a worker has it until it waits again or ends', () => {
  const [first, second] = [sliceSlot.addLine(), sliceSlot.addLine()];
  expect(running.has('b')).toBe(false);
  first.ran();
  first.ran();
  second.ran();
  first.wait();
  expect(running.has('b')).toBe(true);
  second.end();
  expect(running.has('b')).toBe(false);
});
