import { expect, it, onTestFinished } from 'vitest';
import { encodeError } from '#shared/broker/contract/frame.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isBegun, startParties } from '../../../../helpers/broker/broker-parties.ts';
import { until } from '../../../../helpers/until.ts';

it.each([
  ['was started after it had taken the job, has died with it', 1, 'first'],
  ['was started before, as its clock says, has died with it', -1, 'first'],
  ['is the one that had taken the job, has lost it', 0, undefined],
] as const)('a worker that does not know a job and %s', async (_, laterMs, died) => {
  const parties = await startParties({ ingress: { ingress: 'in' } });
  onTestFinished(() => parties.close());
  const { ingress, addWorker } = parties;
  const { broker } = await addWorker({ id: 'first' });
  const sent = ingress.send({ steps: [{ only: 'first', hang: true }, { whoami: true }] });
  await until(() => isBegun(sent));
  await addWorker({ id: 'second' });
  const { attempt } = sent.job;
  const startedAt = (attempt?.worker.announcement.startedAt ?? 0) + laterMs;
  const error = new RouterError('worker_lost', 'A part of the answer was lost on its way.');
  broker.publish(`${broker.subjects.reply('in', attempt?.grant ?? '')}.x.0`, encodeError(error, { startedAt }));
  expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2 });
  expect(sent.job.death?.worker.id).toBe(died);
});
