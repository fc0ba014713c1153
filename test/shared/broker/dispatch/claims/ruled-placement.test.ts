import { expect, it, onTestFinished } from 'vitest';
import { startParties } from '../../../../helpers/broker/broker-parties.ts';

it.each([
  ['is offered', true],
  ['waits for a claim', false],
])('a job that %s has the rule that chose its model', async (_, offers) => {
  const { ingress, addWorker, close } = await startParties({ ingress: { offers } });
  onTestFinished(close);
  await addWorker();
  const rule = 'models.coder.purposes.auxiliary';
  const sent = ingress.send({
    place: () => [...ingress.workers.pools()].map((pool) => ({ pool, model: 'demo', rule })),
  });
  const { state, attempt } = await sent.finished;
  expect([state, attempt?.placement.rule]).toEqual(['done', rule]);
});
