import { describe, expect } from 'vitest';
import { untilOffersAreTaken } from '../../../helpers/broker/broker-parties.ts';
import { grantAsOlder } from '../../../helpers/broker/grant-as-older.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import type { TappedBroker } from '../../../helpers/broker/tapped-broker.ts';
import { until } from '../../../helpers/until.ts';

/**
 * Watches the numbered frames of a worker.
 * @returns the call that returns those since the last call, each as the end of its subject and the subject to be answered at
 */
function watchFrames({ onSend }: TappedBroker): () => string[] {
  const frames: string[] = [];
  onSend((message, send) => {
    const { subject, reply } = message;
    const [kind, number] = subject.split('.').slice(-2);
    if (subject.includes('.reply.') && kind !== 'k') frames.push([`${kind}.${number}`, reply ?? []].flat().join(' '));
    send(message);
  });
  return () => frames.splice(0);
}

const steps = ['a', 'b', 'c'].flatMap((write) => [{ write }, { waitMs: 5 }]);

describe('numbers of frames', () => {
  it.for([
    { what: 'an offer', offers: true },
    { what: 'a grant', offers: false },
  ])(
    'stand beside their subject where $what says that the ingress reads them, and in it for an older one',
    async ({ offers }, { start }) => {
      const { ingress, addIngress, addWorker } = await start({ ingress: { offers } });
      const older = await addIngress({ offers });
      const changed = grantAsOlder(older);
      const worker = await addWorker();
      await older.workers.requestAnnouncements();
      await until(() => [...older.workers.workers()].length === 1);
      if (offers) for (const each of [ingress, older]) await untilOffersAreTaken(each);
      const framesSince = watchFrames(worker);
      const before = changed();
      for (const each of [ingress, older]) {
        expect(await each.send({ steps }).finished).toMatchObject({ state: 'done', attempts: 1, text: 'abc' });
        const numbers = each === older ? ['d.0', 'd.1', 'd.2', 'e.3'] : ['d._ 0', 'd._ 1', 'd._ 2', 'e.3'];
        expect(framesSince()).toEqual(numbers);
      }
      expect(changed() - before).toBe(1);
    },
  );
});
