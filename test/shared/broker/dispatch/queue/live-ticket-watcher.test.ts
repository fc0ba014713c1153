import { expect } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { encodeTicket } from '#shared/broker/contract/ticket.ts';
import { LiveTicketWatcher } from '#shared/broker/dispatch/queue/live-ticket-watcher.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Parties } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { livePool } from '../../../../helpers/broker/live-pool.ts';
import { stopAfterTest } from '../../../../helpers/stop-after-test.ts';
import { until } from '../../../../helpers/until.ts';

/** An ingress, and processes that subscribe to waiting live requests; those that can free a slot say so. */
async function listen({ ingress: { broker: ingress }, addIngress }: Parties, able: readonly boolean[]) {
  const pool = livePool({ tier: 'gpu', pool: 'p' }, [{ id: 'w' }]);
  const brokers: Broker[] = [];
  const reports: number[] = able.map(() => 0);
  for (const [at, isAble] of able.entries()) {
    const { broker } = await addIngress();
    const onWaiting = (): boolean => {
      reports[at] = (reports[at] ?? 0) + 1;
      return isAble;
    };
    stopAfterTest(new LiveTicketWatcher(broker, { pools: () => [pool] }, onWaiting));
    await broker.flush();
    brokers.push(broker);
  }
  const publish = async (job: string, priority: PriorityClass = 'normal'): Promise<void> => {
    const lane = { tier: 'gpu', pool: 'p', class: priority } as const;
    ingress.publish(ingress.subjects.jobs(lane), encodeTicket({ v: 1, ingress: 'i', job }));
    await ingress.flush();
  };
  /** Counts the reports, once everything that was published has arrived everywhere. */
  const sum = async (): Promise<number> => {
    for (const broker of brokers) await broker.flush();
    return reports.reduce((all, each) => all + each, 0);
  };
  return { reports, publish, sum };
}

it('the ticket of a live request is reported to one of several processes', async ({ start }) => {
  const { publish, sum } = await listen(await start(), [true, true, true]);
  for (let at = 0; at < 10; at += 1) await publish(`j${at}`, at % 2 === 0 ? 'normal' : 'high');
  expect(await sum()).toBe(10);
});

it('a ticket is reported for every pool that claims its lane: no pool can hide another one', async ({ ingress }) => {
  const { broker } = ingress;
  const [impostor, honest] = [1, 2].map(() => livePool({ tier: 'gpu', pool: 'p' }, [{ id: 'w' }]));
  const pools = [impostor, honest].flatMap((pool) => pool ?? []);
  const reported: LivePool[] = [];
  const onWaiting = (pool: LivePool): boolean => reported.push(pool) > 0;
  stopAfterTest(new LiveTicketWatcher(broker, { pools: () => pools }, onWaiting));
  const lane = { tier: 'gpu', pool: 'p', class: 'normal' } as const;
  broker.publish(broker.subjects.jobs(lane), encodeTicket({ v: 1, ingress: 'i', job: 'j' }));
  await until(() => reported.length === 2);
  expect(reported[1]).toBe(honest);
});

it('tickets of the lowest class are not reported', async ({ start }) => {
  const { publish, sum } = await listen(await start(), [true]);
  await publish('j1', 'low');
  await publish('j2');
  expect(await sum()).toBe(1);
});

it('a process that can free no slot for a live request asks the others', async ({ start }) => {
  const { publish, reports } = await listen(await start(), [false, true, false]);
  for (let at = 0; at < 20; at += 1) await publish(`j${at}`);
  await until(() => (reports[1] ?? 0) >= 20);
  expect(reports[1]).toBe(20);
});

it('a ticket that comes again soon is not reported again', async ({ start }) => {
  const { publish, sum } = await listen(await start(), [true]);
  await publish('j1');
  await publish('j1');
  await publish('j2');
  expect(await sum()).toBe(2);
});
