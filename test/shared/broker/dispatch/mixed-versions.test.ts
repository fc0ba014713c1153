import { describe, expect } from 'vitest';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { changeHeads, type TappedBroker } from '../../../helpers/broker/tapped-broker.ts';

const older = { oldest: 1, newest: 1 };
const newer = { oldest: 1, newest: 2 };
const newest = { oldest: 2, newest: 3 };

const steps = [{ whoami: true as const }];

/** Adds an unknown field to each message of a party, as a later release may do. @returns the number of changed messages */
function sayMore(party: TappedBroker): () => number {
  let count = 0;
  changeHeads(party, (head) => {
    count += 1;
    return { ...head, unknownField: { since: 'next year' } };
  });
  return () => count;
}

describe('a cluster that is being upgraded', () => {
  it('serves with workers of the previous and of the next release, from ingresses of both', async ({ start }) => {
    const { ingress, addIngress, addWorker } = await start({ ingress: { contract: older } });
    const upgraded = await addIngress({ contract: newer });
    await addWorker({ id: 'old', contract: older, slots: 1 });
    await addWorker({ id: 'new', contract: newer, slots: 1 });
    await upgraded.workers.requestAnnouncements();
    for (const each of [ingress, upgraded]) {
      const pools = [...each.workers.pools()];
      expect(new Set(pools.map(({ contract }) => contract))).toEqual(new Set(each === ingress ? [1] : [1, 2]));
      for (const pool of pools) {
        const text = made([...pool.workers][0]).id;
        const { finished } = each.send({ steps, place: () => [{ pool, model: 'demo' }] });
        expect(await finished).toMatchObject({ state: 'done', attempts: 1, text });
      }
    }
  });

  it.for([
    { what: 'tickets, claims and grants', offers: false, least: 6 },
    { what: 'offers', offers: true, least: 5 },
  ])('tolerates unknown fields from either side: $what', async ({ offers, least }, { start }) => {
    const { ingress, addWaiting } = await start({ ingress: { offers } });
    const [worker] = await addWaiting({ id: 'w' });
    const said = [sayMore(made(worker)), sayMore(ingress)];
    const sent = Array.from({ length: 5 }, () => ingress.send({ steps }));
    for (const { finished } of sent) expect(await finished).toMatchObject({ state: 'done', attempts: 1, text: 'w' });
    for (const count of said) expect(count()).toBeGreaterThanOrEqual(least);
  });

  it('gives no jobs to a worker whose release is too far ahead, shows it, and logs the reason', async ({ start }) => {
    const { ingress, addWorker } = await start({ ingress: { timeouts: { noWorkerMs: 300 } } });
    await addWorker({ id: 'ahead', contract: newest });
    const worker = ingress.workers.get('ahead');
    expect(worker).toMatchObject({ announcement: { accepting: false }, pool: { contract: undefined } });
    expect((await ingress.send({ steps }).finished).error?.code).toBe('no_worker_available');
    await addWorker({ id: 'fits' });
    expect((await ingress.send({ steps }).finished).text).toBe('fits');
  });
});
