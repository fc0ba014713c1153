import { expect, it, onTestFinished } from 'vitest';
import { isBegun, startParties, untilOffersAreTaken } from '../../../../helpers/broker/broker-parties.ts';
import { until } from '../../../../helpers/until.ts';

it.each(['SIGSTOP', 'SIGKILL'] as const)(
  'a late job of an ejected worker that has got %s stays until it has died with it',
  async (signal) => {
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
    const worker = ingress.workers.get(id);
    const { attempt } = late.job;
    if (!worker || !attempt) throw new Error('the worker is not known');
    await until(() => attempt.isLate, 5_000);
    // Its last heartbeat was just before.
    worker.lastHeartbeatAt = performance.now();
    process.child.kill(signal);
    worker.health.eject('demo', 'slow', performance.now());
    expect(await late.finished).toMatchObject({ state: 'done', attempts: 2 });
    expect(late.job.death?.worker.id).toBe(id);
  },
);
