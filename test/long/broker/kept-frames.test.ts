import { expect, it, onTestFinished } from 'vitest';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { startParties, type TestRequest } from '../../helpers/broker/broker-parties.ts';
import { until } from '../../helpers/until.ts';

it('a worker releases all frames of its answers, however they ended', async () => {
  const memory = new FrameMemory();
  const parties = await startParties();
  onTestFinished(() => parties.close());
  const { ingress, addWorker } = parties;
  await addWorker({ memory });
  const requests: TestRequest[] = [
    { steps: [{ write: 'all of it' }] },
    { stream: true, steps: [{ count: 5, everyMs: 10 }] },
    { stream: true, steps: [{ write: 'a piece' }, { fail: 'upstream_failed' }] },
  ];
  await Promise.all(requests.map((request) => ingress.send(request).finished));
  const left = ingress.send({ stream: true, steps: [{ write: 'a piece' }, { hang: true }] });
  await until(() => left.text() === 'a piece');
  left.cancel();
  // All are kept while the connection is young: one of the whole answer, at least one piece and one end of each of the two
  // streams, and one piece of the last.
  expect(memory.frames).toBeGreaterThanOrEqual(6);
  await until(() => memory.frames === 0, 10_000);
});
