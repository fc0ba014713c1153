import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeError } from '#shared/broker/contract/frame.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isBegun, startParties } from '../../../helpers/broker/broker-parties.ts';
import { until } from '../../../helpers/until.ts';

describe('a tool call that its worker gives back', () => {
  it.each([
    ['without having begun it goes to another worker', true, { state: 'done', attempts: 2 }],
    ['after it was begun ends', undefined, { state: 'failed', attempts: 1 }],
  ] as const)('%s', async (_, unbegun, outcome) => {
    const parties = await startParties({ ingress: { ingress: 'in' } });
    onTestFinished(() => parties.close());
    const { ingress, addWorker } = parties;
    const { broker } = await addWorker({ id: 'first' });
    const sent = ingress.send({ operation: 'execute_tool', steps: [{ only: 'first', hang: true }, { whoami: true }] });
    await until(() => isBegun(sent));
    await addWorker({ id: 'second' });
    const reply = broker.subjects.reply('in', sent.job.attempt?.grant ?? '');
    broker.publish(`${reply}.x.0`, encodeError(new RouterError('worker_lost', 'not begun'), { unbegun }));
    expect(await sent.finished).toMatchObject(outcome);
  });
});
