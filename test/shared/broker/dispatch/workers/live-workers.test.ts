import { describe, expect } from 'vitest';
import { openOwner } from '#shared/broker/contract/worker-address.ts';
import { freeSlots } from '#shared/broker/dispatch/workers/live-pool.ts';
import { OwnerShares } from '#shared/broker/dispatch/workers/owner-shares.ts';
import { ProofOfLife } from '#shared/broker/dispatch/workers/proof-of-life.ts';
import { announcementOf } from '../../../../helpers/broker/announcement.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { least } from '../../../../helpers/least.ts';
import { until } from '../../../../helpers/until.ts';
import type { TappedBroker } from '../../../../helpers/broker/tapped-broker.ts';

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
});

const someone = { tier: 'gpu', owner: 'open' } as const;

const mib = 1024 * 1024;

describe('the share of an owner', () => {
  it('is a thousand workers, until one of them is gone', () => {
    const shares = new OwnerShares();
    for (let count = 0; count < 1_000; count += 1) {
      expect(shares.hasRoom('joe', true, 100)).toBe(true);
      shares.add('joe', 1, 100);
    }
    expect(shares.hasRoom('joe', true, 100)).toBe(false);
    expect(shares.hasRoom('joe', false, 100)).toBe(true);
    expect(shares.hasRoom('ann', true, 100)).toBe(true);
    shares.add('joe', -1, -100);
    expect(shares.hasRoom('joe', true, 100)).toBe(true);
  });

  it('is 64 MiB of announcements, new ones and such that grow', () => {
    const shares = new OwnerShares();
    for (let count = 0; count < 64; count += 1) shares.add('joe', 1, mib);
    expect(shares.hasRoom('joe', true, 1)).toBe(false);
    expect(shares.hasRoom('joe', false, 1)).toBe(false);
    expect(shares.hasRoom('joe', false, -1)).toBe(true);
  });

  it('does not limit workers without a credential', () => {
    const shares = new OwnerShares();
    shares.add(openOwner, 9_000, 500 * mib);
    expect(shares.hasRoom(openOwner, true, mib)).toBe(true);
  });
});

/** Lets nothing of a worker's heartbeats out any more. */
function dropHeartbeats({ broker, onSend }: TappedBroker): void {
  onSend((message, send) => {
    if (!message.subject.startsWith(`${broker.subjects.prefix}.heartbeat.`)) send(message);
  });
}

describe.concurrent('a worker without heartbeats', () => {
  it('is alive as long as frames come from it, and its stream is complete', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const worker = await addWorker();
    dropHeartbeats(worker);
    const sent = ingress.send({ steps: [{ count: 40, everyMs: 100 }] });
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(sent.text().split('\n')).toHaveLength(41);
    await until(() => ingress.workers.get(worker.id) === undefined);
  });

  it('gets no offers while its heartbeat is late', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const worker = await addWorker();
    expect(ingress.workers.get(worker.id)?.hasRefused).toBe(false);
    dropHeartbeats(worker);
    await until(() => ingress.workers.get(worker.id)?.hasRefused === true, 2_500);
  });

  it('is removed with all others that are silent, before the first one loses its jobs', async ({ start, expect }) => {
    const { ingress } = await start();
    const { broker, workers } = ingress;
    const known: number[] = [];
    workers.onLost(() => void known.push([...workers.workers()].length));
    for (const worker of ['one', 'two', 'three'])
      broker.publish(
        broker.subjects.heartbeat({ tier: 'gpu', owner: 'open', worker }),
        JSON.stringify(announcementOf({ worker })),
      );
    await until(() => [...workers.workers()].length === 3);
    await until(() => known.length === 3);
    expect(known).toEqual([0, 0, 0]);
  });
});

it('a worker lived when a heartbeat came that another one followed at its time', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  expect(life.provenAt).toBe(Number.NEGATIVE_INFINITY);
  life.onHeartbeat(2_000);
  expect(life.provenAt).toBe(1_000);
  // Heartbeats that a change causes follow each other closely.
  for (let at = 2_010; at < 3_000; at += 10) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});

it('heartbeats that a server delivers late, all at once, show nothing', () => {
  const life = new ProofOfLife();
  life.onHeartbeat(1_000);
  life.onHeartbeat(2_000);
  for (const at of [6_000, 6_001, 6_002]) life.onHeartbeat(at);
  expect(life.provenAt).toBe(2_000);
});
