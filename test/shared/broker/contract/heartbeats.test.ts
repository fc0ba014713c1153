import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import {
  minAnnounceIntervalMs,
  announceAgainPayload,
  decodeShortHeartbeat,
  encodeShortHeartbeat,
} from '#shared/broker/contract/heartbeats.ts';
import { countFreeSlots } from '#shared/broker/dispatch/workers/live-pool.ts';
import { FreedSlotDelay } from '#shared/broker/dispatch/workers/freed-slot-delay.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { announcementOf } from '../../../helpers/broker/announcement.ts';
import type { Parties } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../helpers/until.ts';

/**
 * Adds workers, each of which has sent a short heartbeat when this resolves.
 * @returns what they publish from the first one's start on, and what they are asked for
 */
async function addBeating(parties: Parties, ...ids: string[]) {
  const { broker } = parties.ingress;
  const [seen, asked]: [string[], string[]] = [[], []];
  const { subjects } = broker;
  const textOf = (data: Uint8Array): string => Buffer.from(data).toString();
  broker.subscribe(subjects.allHeartbeats, ({ data }) => void seen.push(textOf(data)));
  broker.subscribe(`${subjects.prefix}.retransmit.>`, ({ data }) => void asked.push(textOf(data)));
  const workers = await Promise.all(ids.map((id) => parties.addWorker({ id, slots: 3 })));
  await until(() => seen.filter(isBeat).length >= ids.length);
  return { ...parties, workers, seen, asked };
}

const isBeat = (text: string): boolean => decodeShortHeartbeat(Buffer.from(text)) !== undefined;

it('a short heartbeat is a few dozen bytes, and nothing else is parsed as one', () => {
  const beat = { digest: 'aB3-_dEfGh123456', busy: 1_024 };
  expect(encodeShortHeartbeat(beat).length).toBeLessThan(30);
  expect(decodeShortHeartbeat(Buffer.from(encodeShortHeartbeat(beat)))).toEqual(beat);
  const others = ['', '~', '~a', '~a b', '~a -1', '~ 1', '~a 1 ', '{"v":1}', 'gone', `~${'a'.repeat(60)} 1`];
  for (const text of others) expect(decodeShortHeartbeat(Buffer.from(text))).toBeUndefined();
});

describe.concurrent('workers', () => {
  it('announce themselves only on change, and their busy slots are known', async ({ start, expect }) => {
    const { ingress, workers, seen } = await addBeating(await start(), 'one');
    const live = made(ingress.workers.get('one'));
    const { cancel } = ingress.send({ steps: [{ hang: true }] });
    // As of another ingress, which could have given it a job: an ingress counts its own jobs at once.
    await until(() => live.announcement.busy === 1);
    expect(countFreeSlots(live.pool)).toBe(2);
    cancel();
    await until(() => live.announcement.busy === 0);
    seen.length = 0;
    workers[0]?.worker.update({ slots: 5 });
    await until(() => countFreeSlots(live.pool) === 5);
    await until(() => seen.length > 2);
    expect(seen.map(isBeat)).toEqual([false, ...seen.slice(1).map(() => true)]);
  });

  it('are complete at a later ingress, which requests each announcement once', async ({ parties, expect }) => {
    const { addIngress, asked } = await addBeating(parties, 'one', 'two', 'three');
    const late = await addIngress();
    await until(() => late.workers.size === 3);
    await sleep(1_000);
    expect(asked).toEqual([announceAgainPayload, announceAgainPayload, announceAgainPayload]);
    const known = Array.from(late.workers.workers(), ({ announcement }) => announcement.worker);
    expect(known.toSorted()).toEqual(['one', 'three', 'two']);
  });

  it('announce themselves four times a second at most, however many requests come', async ({ start, expect }) => {
    const { ingress, seen } = await addBeating(await start(), 'one');
    seen.length = 0;
    const { broker, workers } = ingress;
    const worker = made(workers.get('one'));
    const announced = (): number => seen.filter((text) => !isBeat(text)).length;
    const begin = performance.now();
    for (let round = 0; round < 10; round += 1) {
      for (let count = 0; count < 50; count += 1)
        broker.publish(broker.subjects.retransmit(worker.address), announceAgainPayload);
      await sleep(50);
    }
    await until(() => announced() >= 2);
    await sleep(1_000);
    // One at once, one for the requests of the next quarter of a second, and one for each further quarter.
    const most = 2 + Math.floor((performance.now() - begin) / minAnnounceIntervalMs);
    expect(announced()).toBeLessThanOrEqual(most);
  });

  it('get no requests from an ingress that was disconnected if nothing has changed', async ({ start, expect }) => {
    const { ingress, seen, asked } = await addBeating(await start(), 'one', 'two');
    await ingress.broker.nc.reconnect();
    seen.length = 0;
    await until(() => seen.filter(isBeat).length >= 4);
    expect(asked).toEqual([]);
    expect(seen.every(isBeat)).toBe(true);
    expect(ingress.workers.size).toBe(2);
  });
});

it('only the first of several ingresses sends workers the delay for reports of freed slots', async ({ start }) => {
  const { broker } = (await start()).ingress;
  const given: string[] = [];
  broker.subscribe(broker.subjects.announceRequest, ({ data }) => void given.push(Buffer.from(data).toString()));
  const all = ['a', 'b'].map((id) => new FreedSlotDelay(broker, id, { size: 2_000 }, 400));
  onTestFinished(() => all.forEach((each) => each.close()));
  const timer = setInterval(() => {
    for (const each of all) for (const id of ['a', 'b']) each.onStats(id);
  }, 100);
  onTestFinished(() => clearInterval(timer));
  const begin = performance.now();
  await until(() => given.length === 2);
  // 4,000 deliveries a second. Two messages of one ingress are 400 ms apart.
  expect(given).toEqual(['delay 40', 'delay 40']);
  expect(performance.now() - begin).toBeGreaterThan(380);
});

it('an ingress has the right busy slots when an announcement is repeated after short heartbeats', async ({ start }) => {
  const { broker, workers } = (await start()).ingress;
  const address = { tier: 'gpu', credentialName: 'open', worker: 'hand', process: 'p' } as const;
  const announcement = announcementOf({ worker: 'hand', busy: 1, digest: 'abc' });
  const send = (text: string): void => broker.publish(broker.subjects.heartbeat(address), text);
  const busy = (): number | undefined => workers.findByAddress(address)?.announcement.busy;
  send(JSON.stringify(announcement));
  await until(() => busy() === 1);
  send(encodeShortHeartbeat({ digest: 'abc', busy: 3 }));
  await until(() => busy() === 3);
  send(encodeShortHeartbeat({ digest: 'other', busy: 4 }));
  send(JSON.stringify(announcement));
  await until(() => busy() === 1);
  expect(workers.size).toBe(1);
});
