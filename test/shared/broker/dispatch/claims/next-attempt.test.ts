import { describe } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { jobDone } from '../../../../helpers/broker/job-done.ts';
import { until } from '../../../../helpers/until.ts';

const replicas = ['a', 'b', 'c'];
const spareModel = { models: [{ id: 'spare', capabilities: ['stream' as const] }] };

describe.concurrent('the next attempt', () => {
  it('goes to another pool when nothing shows that the one that failed serves at all', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    for (const id of replicas) await addWorker({ id });
    await addWorker({ id: 'spare', ...spareModel });
    const revoked = replicas.map((only): Step => ({ only, fail: 'upstream_failed' }));
    for (const sent of Array.from({ length: 3 }, () => ingress.send({ steps: [...revoked, { whoami: true }] }))) {
      expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2, moves: ['upstream_failed'] });
      expect(sent.text()).toBe('spare');
    }
  });

  it('stays in a pool whose other workers serve', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    await addWorker({ id: 'b' });
    await ingress.send({}).finished;
    await addWorker({ id: 'a', slots: 64 });
    await addWorker({ id: 'spare', ...spareModel });
    await until(async () => {
      const { finished, text } = ingress.send({ steps: [{ only: 'a', fail: 'upstream_failed' }, { whoami: true }] });
      const { state, attempts } = await finished;
      expect([state, text()]).toEqual(['done', 'b']);
      return attempts === 2;
    });
  });

  it('may go to the worker that failed once some seconds have passed', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    await addWorker({ id: 'busy', slots: 1 });
    const other = ingress.send({ steps: [{ write: 'x' }, { hang: true }] });
    await until(() => other.job.state === 'streaming');
    let failures = 0;
    await addWorker({
      id: 'recovers',
      handler: (_, reply) => {
        failures += 1;
        if (failures === 1) throw new RouterError('upstream_failed', 'The upstream failed.');
        reply.write('served');
        return Promise.resolve(jobDone);
      },
    });
    const sent = ingress.send({});
    const { state, attempts, queuedAt, endedAt } = await sent.finished;
    expect([state, attempts, sent.text()]).toEqual(['done', 2, 'served']);
    expect(endedAt - queuedAt).toBeGreaterThan(3_000);
    expect(endedAt - queuedAt).toBeLessThan(8_000);
    other.cancel();
  });
});
