import { describe, expect } from 'vitest';
import { encodeAnnouncement } from '#shared/broker/contract/announcement.ts';
import { encodeBeat } from '#shared/broker/contract/heartbeats.ts';
import { freeSlots } from '#shared/broker/dispatch/workers/live-pool.ts';
import { announcementOf } from '../../../../helpers/broker/announcement.ts';
import { placementsIn } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { least } from '../../../../helpers/least.ts';
import { until } from '../../../../helpers/until.ts';

describe('the workers that an ingress knows', () => {
  it('are all there after a request for announcements, long before their next heartbeat', async ({ start }) => {
    const { addWorker, addIngress } = await start();
    await addWorker({ id: 'one' });
    await addWorker({ id: 'two' });
    const ask = async (): Promise<number> => {
      const late = await addIngress();
      const begin = performance.now();
      await late.workers.requestAnnouncements();
      const ms = performance.now() - begin;
      expect(Array.from(late.workers.workers(), ({ announcement }) => announcement.worker)).toEqual(
        expect.arrayContaining(['one', 'two']),
      );
      expect(late.workers.isKnownModel('demo')).toBe(true);
      return ms;
    };
    expect(await least(ask, 600)).toBeLessThan(600);
  });

  it('share a pool when they serve the same, and its free slots are the sum of theirs', async ({ start }) => {
    const { ingress, addWorker } = await start();
    await addWorker({ slots: 3 });
    const { worker } = await addWorker({ slots: 5 });
    await addWorker({ kind: 'other', slots: 7 });
    const [pool] = ingress.workers.pools();
    if (!pool) throw new Error('there is no pool');
    expect([...ingress.workers.pools()]).toHaveLength(2);
    expect(freeSlots(pool)).toBe(8);
    worker.update({ accepting: false });
    await until(() => freeSlots(pool) === 3);
  });

  it('are forgotten when they leave, but not the names of their models', async ({ start }) => {
    const { ingress, addWorker } = await start();
    const { worker, id } = await addWorker();
    await worker.close();
    await until(() => ingress.workers.get(id) === undefined);
    expect([...ingress.workers.pools()]).toEqual([]);
    expect(ingress.workers.isKnownModel('demo')).toBe(true);
    expect(ingress.workers.isKnownModel('__proto__')).toBe(false);
  });

  it.for<[string, (id: string) => string]>([
    ['no JSON', () => '{'],
    ['of another shape', () => '{"v":1}'],
    ['of a later release', () => '{"v":2,"worker":"strange"}'],
    ["in another worker's name", (id) => JSON.stringify(announcementOf({ worker: id }))],
    ['of another tier', () => JSON.stringify(announcementOf({ worker: 'strange', tier: 'cloud' }))],
    ['empty, as the broker itself sends them', () => ''],
  ])('do not change by a heartbeat that is %s', async ([, heartbeat], { start }) => {
    const { ingress, addWorker } = await start();
    const { id } = await addWorker();
    const { broker, workers } = ingress;
    for (const worker of ['strange', id])
      broker.publish(broker.subjects.heartbeat({ ...someone, worker }), heartbeat(id));
    await broker.flush();
    await broker.flush();
    expect(workers.get('strange')).toBeUndefined();
    expect(workers.get(id)?.pool.pool).not.toBe('p');
  });

  it.for(['first', 'second'])(
    'keep the models of their pool where another one announces its token without them, %s',
    async (order, { start }) => {
      const { ingress, addWorker } = await start();
      const { broker, workers } = ingress;
      const { id, worker } = await addWorker({ id: 'honest' });
      const token = workers.get(id)?.announcement.pool ?? '';
      const impostor = { tier: 'gpu', owner: 'mallory', worker: 'w' } as const;
      const impersonate = async (): Promise<void> => {
        const announcement = announcementOf({ worker: 'w', pool: token, formats: [], slots: 64 });
        broker.publish(broker.subjects.heartbeat(impostor), encodeAnnouncement(announcement));
        await until(() => workers.get('mallory.w') !== undefined);
      };
      if (order === 'first') {
        await worker.drain(0);
        await worker.close();
        await until(() => workers.get(id) === undefined);
        await impersonate();
        await addWorker({ id: 'honest' });
      } else await impersonate();
      const { pool } = workers.get('honest') ?? {};
      expect(pool?.models).toMatchObject([{ id: 'demo' }]);
      expect(pool?.formats).not.toEqual([]);
      expect(Array.from(pool?.workers ?? [], (each) => each.id)).toEqual(['honest']);
      expect(Array.from(workers.get('mallory.w')?.pool.models ?? [])).toEqual([]);
      const job = ingress.send({ place: (avoid) => placementsIn(workers, (each) => each === pool, avoid) });
      expect(await job.finished).toMatchObject({ state: 'done' });
    },
  );

  it('are known late where their owner announces too much, and nobody else is', async ({ start }) => {
    const { ingress, addWorker } = await start();
    const { broker, workers } = ingress;
    const far = { tier: 'gpu', owner: 'joe', worker: 'w' } as const;
    const models = Array.from({ length: 1_500 }, (_, at) => ({ id: `vendor/model-${at}`, capabilities: [] }));
    const announce = (number: number): void =>
      broker.publish(
        broker.subjects.heartbeat(far),
        encodeAnnouncement(announcementOf({ models, version: `${number}`, digest: `${number}` })),
      );
    const count = 100;
    for (let number = 1; number <= count; number += 1) announce(number);
    await addWorker({ id: 'honest' });
    const seen = Number(workers.get('joe.w')?.announcement.version);
    expect(seen).toBeGreaterThan(10);
    expect(seen).toBeLessThan(count);
    // It is asked again once it may be read.
    const asked = broker.subscribe(broker.subjects.retransmit(far), () => announce(count));
    await until(() => {
      broker.publish(broker.subjects.heartbeat(far), encodeBeat({ digest: `${count}`, busy: 0 }));
      return workers.get('joe.w')?.announcement.version === `${count}`;
    });
    asked.unsubscribe();
  });
});

const someone = { tier: 'gpu', owner: 'open' } as const;
