import { describe } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { jobDone } from '../../../../helpers/broker/job-done.ts';
import { until } from '../../../../helpers/until.ts';

const spareModel = { models: [{ id: 'spare', capabilities: ['stream' as const] }] };

describe.concurrent('the next attempt', () => {
  it('goes to another pool when nothing shows that the one that failed serves at all', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const replicas = ['a', 'b', 'c'];
    for (const id of replicas) await addWorker({ id });
    await addWorker({ id: 'spare', ...spareModel });
    const steps = [...replicas.map((only): Step => ({ only, fail: 'upstream_failed' })), { whoami: true as const }];
    const moved = { state: 'done', attempts: 2, moves: ['upstream_failed'], text: 'spare' };
    for (const { finished } of Array.from({ length: 3 }, () => ingress.send({ steps })))
      expect(await finished).toMatchObject(moved);
  });

  it('stays in a pool whose other workers serve', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    await addWorker({ id: 'b' });
    await ingress.send({}).finished;
    await addWorker({ id: 'a', slots: 64 });
    await addWorker({ id: 'spare', ...spareModel });
    await until(async () => {
      const steps: Step[] = [{ only: 'a', fail: 'upstream_failed' }, { whoami: true }];
      const { state, attempts, text } = await ingress.send({ steps }).finished;
      expect([state, text]).toEqual(['done', 'b']);
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
    const { state, attempts, queuedAt, endedAt, text } = await ingress.send({}).finished;
    expect([state, attempts, text]).toEqual(['done', 2, 'served']);
    expect(endedAt - queuedAt).toBeGreaterThan(3_000);
    expect(endedAt - queuedAt).toBeLessThan(8_000);
    other.cancel();
  });
});

it.for([
  ['is offered', true],
  ['waits for a claim', false],
] as const)('a job that %s has the rule that chose its model', async ([, offers], { start, expect }) => {
  const { ingress, addWorker } = await start({ ingress: { offers } });
  await addWorker();
  const rule = 'models.coder.purposes.auxiliary';
  const place = () => [...ingress.workers.pools()].map((pool) => ({ pool, model: 'demo', rule }));
  const { state, attempt } = await ingress.send({ place }).finished;
  expect([state, attempt?.placement.rule]).toEqual(['done', rule]);
});
