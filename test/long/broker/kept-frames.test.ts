import { expect, it, onTestFinished, vi } from 'vitest';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { startParties, type TestRequest } from '../../helpers/broker/broker-parties.ts';
import { until } from '../../helpers/until.ts';

it('a worker lets go of all frames of its answers, however they ended', async () => {
  const kept = vi.spyOn(FrameMemory.prototype, 'keep');
  const released = vi.spyOn(FrameMemory.prototype, 'leave');
  const parties = await startParties();
  onTestFinished(async () => {
    await parties.close();
    vi.restoreAllMocks();
  });
  const { ingress, addWorker } = parties;
  await addWorker();
  const requests: TestRequest[] = [
    { steps: [{ write: 'all of it' }] },
    { stream: true, steps: [{ count: 5, everyMs: 10 }] },
    { stream: true, steps: [{ write: 'a piece' }, { fail: 'upstream_failed' }] },
  ];
  await Promise.all(requests.map((request) => ingress.send(request).finished));
  const left = ingress.send({ stream: true, steps: [{ write: 'a piece' }, { hang: true }] });
  await until(() => left.text() === 'a piece');
  left.cancel();
  // One of the whole answer, at least one piece and one end of each of the two streams, and one piece of the last.
  expect(kept.mock.calls.length).toBeGreaterThanOrEqual(6);
  // All are kept while the connection is young.
  expect(released.mock.calls.length).toBeLessThan(kept.mock.calls.length);
  await until(() => released.mock.calls.length === kept.mock.calls.length, 10_000);
});
