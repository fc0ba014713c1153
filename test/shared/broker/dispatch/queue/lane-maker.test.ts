import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { announce } from '../../../../helpers/broker/announcement.ts';
import { openTicketStream, type TestIngress } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../../helpers/until.ts';

/** Asks for the lanes of pools as workers of an owner do. `got` are the pools that have them. */
function asker({ broker }: TestIngress, owner: string, got = new Set<string>()) {
  const { subjects } = broker;
  const of = (worker: string) => ({ tier: 'gpu', credentialName: owner, worker, process: 'p' }) as const;
  broker.subscribe(
    `${subjects.inbox(of('*'))}.lanes.*`,
    ({ subject }) => void got.add(subject.split('.').at(-1) ?? ''),
  );
  const ask = (pool: string, worker = 'w'): void => {
    const address = of(worker);
    announce({ broker }, address, { pool });
    broker.publish(subjects.lanes(address), pool, `${subjects.inbox(address)}.lanes.${pool}`);
  };
  return { got, ask };
}

it('an owner gets lanes for a hundred pools at once, and others get theirs meanwhile', async ({ ingress }) => {
  const got = new Set<string>();
  const [joe, ann] = ['joe', 'ann'].map((owner) => asker(ingress, owner, got));
  for (let at = 0; at < 150; at += 1) joe?.ask(`joe-${at}`);
  ann?.ask('ann');
  await until(() => expect(got.size).toBe(101));
  // Those of joe are made one after the other.
  expect([...got].indexOf('ann')).toBeLessThan(50);
  expect((await (await openTicketStream(ingress)).state()).consumer_count).toBe(101 * priorityClasses.length);
});

it('lanes that the broker has lost are made again, all of them', async ({ ingress }) => {
  const { got, ask } = asker(ingress, 'joe');
  const askForAll = (): void => {
    for (let at = 0; at < 100; at += 1) ask(`joe-${at}`, `w${at}`);
  };
  askForAll();
  await until(() => expect(got.size).toBe(100));
  const stream = await openTicketStream(ingress);
  await stream.delete();
  // The ingress makes the stream once it cannot make a lane.
  await until(async () => {
    askForAll();
    await sleep(250);
    const lanes = await stream.state().then(
      ({ consumer_count: count }) => count,
      () => 0,
    );
    return lanes === 100 * priorityClasses.length;
  });
});
