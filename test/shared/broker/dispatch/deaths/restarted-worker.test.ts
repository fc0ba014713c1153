import { expect } from 'vitest';
import { isBegun, loseAsStranger } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../../helpers/until.ts';

it.for([
  ['was started after it had taken the job, has died with it', 1, 'first'],
  ['was started before, as its clock says, has died with it', -1, 'first'],
  ['is the one that had taken the job, has lost it', 0, undefined],
] as const)('a worker that does not know a job and %s', async ([, laterMs, died], { start }) => {
  const { ingress, addWorker } = await start({ ingress: { ingress: 'in' } });
  await addWorker({ id: 'first' });
  const sent = ingress.send({ steps: [{ only: 'first', hang: true }, { whoami: true }] });
  await until(() => isBegun(sent));
  await addWorker({ id: 'second' });
  const { startedAt = 0 } = sent.job.attempt?.worker.announcement ?? {};
  loseAsStranger(ingress, sent, { startedAt: startedAt + laterMs });
  expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2 });
  expect(sent.job.death?.worker.id).toBe(died);
});
