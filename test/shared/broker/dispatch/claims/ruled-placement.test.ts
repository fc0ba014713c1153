import { expect } from 'vitest';
import { it } from '../../../../helpers/broker/it-with-parties.ts';

it.for([
  ['is offered', true],
  ['waits for a claim', false],
] as const)('a job that %s has the rule that chose its model', async ([, offers], { start }) => {
  const { ingress, addWorker } = await start({ ingress: { offers } });
  await addWorker();
  const rule = 'models.coder.purposes.auxiliary';
  const place = () => [...ingress.workers.pools()].map((pool) => ({ pool, model: 'demo', rule }));
  const { state, attempt } = await ingress.send({ place }).finished;
  expect([state, attempt?.placement.rule]).toEqual(['done', rule]);
});
