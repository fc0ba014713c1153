import { describe } from 'vitest';
import { isBegun, untilOffersAreTaken } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../../helpers/until.ts';

describe.concurrent('a late job of an ejected worker', () => {
  it.for(['SIGSTOP', 'SIGKILL'] as const)(
    'that has got %s stays until it has died with it',
    async (signal, { start, expect }) => {
      const { ingress, addWorker, forkWorker } = await start();
      const { process, id } = await forkWorker();
      const late = ingress.send({ steps: [{ only: id, hang: true }, { whoami: true }] });
      await until(() => isBegun(late));
      await Promise.all([addWorker({ id: 'b' }), addWorker({ id: 'c' })]);
      await untilOffersAreTaken(ingress);
      // What is late is found out by the first tokens of its peers.
      await Promise.all(Array.from({ length: 20 }, () => ingress.send({ steps: [{ write: 'x' }] }).finished));
      const worker = ingress.workers.get(id);
      await until(() => late.job.attempt?.isLate === true, 5_000);
      // Its last heartbeat was just before.
      await until(() => performance.now() - (worker?.lastHeartbeatAt ?? 0) < 200);
      process.child.kill(signal);
      worker?.health.eject('demo', 'slow', performance.now());
      expect(await late.finished).toMatchObject({ state: 'done', attempts: 2 });
      expect(late.job.death?.worker.id).toBe(id);
    },
  );
});
