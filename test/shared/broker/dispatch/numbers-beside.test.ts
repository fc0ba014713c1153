import { describe, expect, it, onTestFinished } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { grantAsOlder } from '../../../helpers/broker/grant-as-older.ts';
import { startParties, untilOffersAreTaken, type Parties } from '../../../helpers/broker/broker-parties.ts';
import { until } from '../../../helpers/until.ts';

async function start(offers: boolean): Promise<Parties> {
  const parties = await startParties({ ingress: { ingress: 'in', offers } });
  onTestFinished(() => parties.close());
  return parties;
}

/**
 * Watches the numbered frames of a worker.
 * @returns the call that returns those since the last call, each as the end of its subject and the subject to be answered at
 */
function watchFrames({ nc }: Broker): () => string[] {
  const frames: string[] = [];
  const publish = nc.publish.bind(nc);
  nc.publish = (subject, payload, options) => {
    const [kind, number] = subject.split('.').slice(-2);
    if (subject.includes('.reply.') && kind !== 'k')
      frames.push([`${kind}.${number}`, ...(options?.reply ? [options.reply] : [])].join(' '));
    publish(subject, payload, options);
  };
  return () => frames.splice(0);
}

const letters = ['a', 'b', 'c'];
const steps = letters.flatMap((write) => [{ write }, { waitMs: 5 }]);

describe('numbers of frames', () => {
  it.each([
    { what: 'an offer', offers: true },
    { what: 'a grant', offers: false },
  ])(
    'stand beside their subject where $what says that the ingress reads them, and in it for an older one',
    async ({ offers }) => {
      const { ingress, addIngress, addWorker } = await start(offers);
      const older = await addIngress({ offers });
      const changed = grantAsOlder(older.broker);
      const { broker } = await addWorker();
      await older.workers.requestAnnouncements();
      await until(() => [...older.workers.workers()].length === 1);
      if (offers) for (const each of [ingress, older]) await untilOffersAreTaken(each);
      const framesSince = watchFrames(broker);
      const before = changed();
      for (const each of [ingress, older]) {
        const sent = each.send({ steps });
        expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
        expect(sent.text()).toBe('abc');
        const numbers = each === older ? ['d.0', 'd.1', 'd.2', 'e.3'] : ['d._ 0', 'd._ 1', 'd._ 2', 'e.3'];
        expect(framesSince()).toEqual(numbers);
      }
      expect(changed() - before).toBe(1);
    },
  );

  it('that cannot be read are those of no frame', async () => {
    const { ingress, addWorker } = await start(false);
    const { broker } = await addWorker();
    const sent = ingress.send({ steps: [{ write: 'a' }, { waitMs: 500 }, { write: 'b' }] });
    await until(() => sent.text() === 'a');
    const reply = broker.subjects.reply('in', sent.job.attempt?.grant ?? '');
    const inbox = broker.subjects.inbox({ tier: 'gpu', owner: 'open', worker: 'w' });
    for (const answerTo of [undefined, 'x', '_', '1.5', '$JS.ACK.1', `${inbox}.alive.x`])
      for (const kind of ['d', 'e', 'x', 'r']) broker.publish(`${reply}.${kind}._`, 'foreign', answerTo);
    for (const kind of ['d', 'e', 'x', 'r']) broker.publish(`${reply}.${kind}.x`, 'foreign');
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text()).toBe('ab');
  });
});
