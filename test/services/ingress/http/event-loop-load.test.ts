import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Releases } from '#shared/core/release.ts';
import { EventLoopLoad } from '#services/ingress/http/event-loop-load.ts';
import { computeMaxActive, HeldBodies, openHeldBodies } from '#services/ingress/http/held-bodies.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { until } from '../../../helpers/until.ts';

/** Holds the event loop for a while, repeatedly, without using the processor. */
async function hold(ms: number, times: number): Promise<void> {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  for (let time = 0; time < times; time += 1) {
    Atomics.wait(nobody, 0, 0, ms);
    await sleep(1);
    await nextTurn();
  }
}

it('an event loop is behind when its timers are late for about a second, until they are not', async () => {
  const load = stopAfterTest(new EventLoopLoad(200));
  const held = new HeldBodies(1_000, 10, load);
  const admit = () => held.admit({ id: 'key', ownerId: undefined, limits: [] }).release();
  admit();
  await hold(500, 6);
  expect(load.isBehind).toBe(true);
  expect(admit).toThrow(errorWith('overloaded', { retryAfter: 1 }));
  await until(() => !load.isBehind);
  admit();
});

it('an event loop is not behind after a single pause, for example of a suspended process', async () => {
  // This process may stand still once more.
  await until(async () => {
    const load = stopAfterTest(new EventLoopLoad(500));
    await hold(3_600, 1);
    await sleep(250);
    expect(load.isBehind).toBe(false);
  });
});

it('an ingress refuses requests while its event loop is a second behind, and serves again later', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => void vi.restoreAllMocks());
  const sampleAfter = (ms: number): void => {
    now += ms;
    vi.advanceTimersByTime(100);
  };
  const releases = new Releases();
  onTestFinished(async () => void (await releases.releaseAll()));
  const held = openHeldBodies({ releases });
  const admit = () => held.admit({ id: 'key', ownerId: undefined, limits: [] }).release();
  admit();
  for (let sample = 0; sample < 3; sample += 1) sampleAfter(3_100);
  expect(admit).toThrow(errorWith('overloaded', { retryAfter: 1 }));
  for (let sample = 0; sample < 10; sample += 1) sampleAfter(100);
  admit();
  await releases.releaseAll();
  expect(vi.getTimerCount()).toBe(0);
});

it('the limit admits as many requests as half of the memory holds', () => {
  const mib = 1024 * 1024;
  expect([0, 64 * mib, 512 * mib, 8_192 * mib].map(computeMaxActive)).toEqual([20_000, 512, 4_096, 20_000]);
});
