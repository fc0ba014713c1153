import { describe } from 'vitest';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { untilOffersAreTaken, type TestIngress } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../helpers/until.ts';

const hang = { steps: [{ write: 'x' }, { hang: true as const }] };

/** Returns the worker that serves a request of a conversation now. One that the first offer did not reach, as at a standstill, is repeated. */
async function workerFor({ send }: TestIngress, affinity: number, place?: JobRequest['place']): Promise<string> {
  for (;;) {
    const { job, finished } = send({ affinity, ...(place && { place }) });
    const { attempt, timeline } = await finished;
    if (attempt?.placement.pool !== attempt?.worker.pool) throw new Error('its placement is in another pool');
    if (attempt && timeline.length === 1 && job.tickets.count === 0) return attempt.worker.id;
  }
}

/** Returns the worker of each of these conversations. */
async function workersFor(
  ingress: TestIngress,
  affinities: readonly number[],
  place?: JobRequest['place'],
): Promise<string[]> {
  const served: string[] = [];
  for (const affinity of affinities) served.push(await workerFor(ingress, affinity, place));
  return served;
}

function countsOf(ids: readonly string[]): number[] {
  return Object.values(Object.groupBy(ids, (id) => id)).map((same) => same?.length ?? 0);
}

const conversations = Array.from({ length: 60 }, (_, number) => (number * 2_654_435_761) % 2 ** 32);

describe.concurrent('a conversation', () => {
  it('stays with one worker on every ingress, and all workers share the conversations', async ({ start, expect }) => {
    const { ingress, addIngress, addWaiting } = await start();
    const made = await addWaiting({}, {}, {}, {});
    const first = await workersFor(ingress, conversations);
    expect(await workersFor(ingress, conversations)).toEqual(first);
    const counts = countsOf(first);
    expect(counts).toHaveLength(4);
    expect(Math.max(...counts)).toBeLessThan(30);

    const other = await addIngress();
    await until(() => other.workers.size === made.length);
    await untilOffersAreTaken(other);
    expect(await workersFor(other, conversations)).toEqual(first);
  });

  it("fills half of its worker's slots, then the load is shared among all workers", async ({ start, expect }) => {
    const { ingress, addWaiting } = await start();
    const made = await addWaiting({}, {}, {});
    const held = (): number[] => made.map(({ id }) => ingress.workers.get(id)?.held ?? 0).toSorted((a, b) => b - a);
    const send = async (jobs: number): Promise<void> => {
      const sent = Array.from({ length: jobs }, () => ingress.send({ ...hang, affinity: 7 }));
      await until(() => sent.every(({ job }) => job.attempt?.hasBegun));
    };
    await send(4);
    expect(held()).toEqual([4, 0, 0]);
    await send(4);
    expect(held()).toEqual([4, 4, 0]);
    await send(4);
    // The mean of four, plus a quarter.
    expect(Math.max(...held())).toBe(5);
    await send(6);
    expect(Math.max(...held())).toBeLessThanOrEqual(7);
    expect(Math.min(...held())).toBeGreaterThanOrEqual(4);
  });

  it('moves at once when its worker stops accepting, and back when it accepts again', async ({ start, expect }) => {
    const { ingress, addWaiting } = await start();
    const [leaving] = await addWaiting({}, {}, {});
    const before = await workersFor(ingress, conversations);
    const { id, worker } = made(leaving);
    const accept = async (accepting: boolean): Promise<void> => {
      worker.update({ accepting });
      await until(() => ingress.workers.get(id)?.announcement.accepting === accepting);
    };
    await accept(false);
    const during = await workersFor(ingress, conversations);
    expect(during).not.toContain(id);
    const stayed = before.flatMap((was, at) => (was === id ? [] : [[was, during[at]]]));
    expect(stayed.every(([was, is]) => was === is)).toBe(true);
    // The conversations of that worker do not all go to the same one.
    expect(countsOf(during.filter((_, at) => before[at] === id))).toHaveLength(2);

    await accept(true);
    await untilOffersAreTaken(ingress);
    expect(await workersFor(ingress, conversations)).toEqual(before);
  });

  it('finds its worker in any of the pools that are equally good', async ({ ingress, addWaiting, expect }) => {
    await addWaiting({ id: 'left', kind: 'left', slots: 8 }, { id: 'right', kind: 'right', slots: 64 });
    const place = () => [...ingress.workers.pools()].map((pool) => ({ pool, model: 'demo', group: 0 }));
    const first = await workersFor(ingress, conversations, place);
    expect(await workersFor(ingress, conversations, place)).toEqual(first);
    // A pool with an eighth of the other's slots has about a ninth of the conversations.
    const left = first.filter((id) => id === 'left').length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(20);
  });

  it('moves to the next worker while the first token of its own takes long', async ({
    ingress,
    addWaiting,
    expect,
  }) => {
    await addWaiting({}, {});
    const own = await workerFor(ingress, 7);
    const served = await workersFor(ingress, conversations);
    const other = conversations.find((_, at) => served[at] !== own);
    const forgetTimes = (): void => {
      for (const { health } of ingress.workers.workers()) health.find('demo')?.outcomes.clearFirstTokens();
    };
    forgetTimes();
    const steps: Step[] = [{ only: own, waitMs: 1_500 }, { write: 'x' }, { waitMs: 5 }];
    await until(async () => {
      await Promise.all([7, 7, other, other].map((affinity) => ingress.send({ affinity, steps }).finished));
      expect(await workerFor(ingress, 7)).not.toBe(own);
    });
    // A job without a conversation also goes to the worker with the earlier first token.
    for (let job = 0; job < 10; job += 1) expect((await ingress.send({}).finished).attempt?.worker.id).not.toBe(own);
    forgetTimes();
    expect(await workerFor(ingress, 7)).toBe(own);
  });
});
