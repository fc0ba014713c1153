import { expect, it, onTestFinished } from 'vitest';
import { isBegun, startParties, untilOffersAreTaken } from '../../../../helpers/broker/broker-parties.ts';
import { until } from '../../../../helpers/until.ts';

it('a late job of an ejected worker that sends no heartbeats stays until it has died with it', async () => {
  const { ingress, addWorker, forkWorker, close } = await startParties();
  onTestFinished(close);
  const { process, id } = await forkWorker();
  const late = ingress.send({ steps: [{ only: id, hang: true }, { whoami: true }] });
  await until(() => isBegun(late));
  await Promise.all([addWorker({ id: 'b' }), addWorker({ id: 'c' })]);
  await untilOffersAreTaken(ingress);
  // What is late is found out by the first tokens of its peers.
  const quick = Array.from({ length: 20 }, () => ingress.send({ steps: [{ write: 'x' }] }).finished);
  await Promise.all(quick);
  process.child.kill('SIGSTOP');
  ingress.workers.get(id)?.health.eject('demo', 'slow', performance.now());
  expect(await late.finished).toMatchObject({ state: 'done', attempts: 2 });
  expect(late.job.death?.worker.id).toBe(id);
});
