import { describe, expect } from 'vitest';
import { isBegun, loseAsStranger } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../helpers/until.ts';

describe('a tool call that its worker gives back', () => {
  it.for([
    ['without having begun it goes to another worker', true, { state: 'done', attempts: 2 }],
    ['after it was begun ends', undefined, { state: 'failed', attempts: 1 }],
  ] as const)('%s', async ([, unbegun, outcome], { start }) => {
    const { ingress, addWorker } = await start({ ingress: { ingress: 'in' } });
    await addWorker({ id: 'first' });
    const sent = ingress.send({ operation: 'execute_tool', steps: [{ only: 'first', hang: true }, { whoami: true }] });
    await until(() => isBegun(sent));
    await addWorker({ id: 'second' });
    loseAsStranger(ingress, sent, { unbegun });
    expect(await sent.finished).toMatchObject(outcome);
  });
});
