import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { WeightedOrder } from '#shared/broker/dispatch/queue/weighted-order.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { Parties, TestIngress, TestJob } from '../../../../helpers/broker/broker-parties.ts';
import { jobDone } from '../../../../helpers/broker/job-done.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { least } from '../../../../helpers/least.ts';
import { until } from '../../../../helpers/until.ts';

const jobMs = 100;

/** A worker with one slot, where every job takes as long. */
function addSlowWorker({ addWorker }: Parties, served: string[] = [], ms = jobMs) {
  return addWorker({
    slots: 1,
    handler: async ({ requestId }, reply) => {
      served.push(requestId);
      reply.write('x');
      await sleep(ms);
      return jobDone;
    },
  });
}

const sender = (name: string) => ({ owner: name, key: name });

async function floodLane({ send }: TestIngress): Promise<TestJob[]> {
  const flood = Array.from({ length: 500 }, () => send({ sender: sender('loud') }));
  await until(() => flood.every(({ job }) => job.tickets.isAdmitted || job.state !== 'queued'));
  return flood;
}

/** Sends a job of a key that sends little, and returns how many others were begun before it: they take as long as the machine wants. */
async function othersBefore({ send }: TestIngress, served: readonly string[]): Promise<number> {
  const requestId = `quiet ${served.length}`;
  const begun = served.length;
  expect((await send({ sender: sender('quiet'), requestId }).finished).state).toBe('done');
  return served.indexOf(requestId) - begun;
}

describe.concurrent('the next job in a lane', () => {
  it('is soon one of a key that has one, not of the 500 that another key has queued', async ({ parties, expect }) => {
    const { ingress } = parties;
    const served: string[] = [];
    await addSlowWorker(parties, served);
    const flood = await floodLane(ingress);
    const most = async (): Promise<number> => {
      const before: number[] = [];
      for (let at = 0; at < 12; at += 1) before.push(await othersBefore(ingress, served));
      // The one that was given its ticket already.
      expect(before.toSorted((a, b) => a - b)[6]).toBeLessThanOrEqual(1);
      return Math.max(...before);
    };
    expect(await least(most, 5, 3)).toBeLessThan(5);
    expect(flood.filter(({ job }) => job.state === 'queued').length).toBeGreaterThan(400);
    for (const { cancel } of flood) cancel();
  });

  it('is one of another ingress after the few tickets ahead of its own', async ({ parties, expect }) => {
    const { ingress, addIngress } = parties;
    const other = await addIngress();
    const served: string[] = [];
    const { id } = await addSlowWorker(parties, served);
    await until(() => other.workers.get(id) !== undefined);
    const flood = await floodLane(ingress);
    const before: number[] = [];
    for (let at = 0; at < 10; at += 1) before.push(await othersBefore(other, served));
    expect(Math.max(...before)).toBeLessThan(6);
    for (const { cancel } of flood) cancel();
  });

  it('is as often one of an owner or a key as its weight says, and nobody starves', async ({ parties }) => {
    const { ingress } = parties;
    const served: string[] = [];
    await addSlowWorker(parties, served, 20);
    const first = ingress.send({ requestId: 'first' });
    await until(() => first.job.state !== 'queued');
    const weights = { heavy: 3, light: 1 };
    const send = (owner: keyof typeof weights, key: keyof typeof weights, count: number) =>
      Array.from({ length: count }, () =>
        ingress.send({
          sender: { owner, key: `${owner}.${key}`, ownerWeight: weights[owner], keyWeight: weights[key] },
          requestId: `${owner}.${key}`,
        }),
      );
    const both = ['light', 'heavy'] as const;
    const jobs = both.flatMap((owner) => both.flatMap((key) => send(owner, key, 40)));
    await until(() => served.length > 64);
    for (const { cancel } of jobs) cancel();
    const turns = served.slice(1, 65);
    const count = (name: string) => turns.filter((each) => each.startsWith(name)).length;
    // The jobs that have a ticket already are served out of turn: two, and up to four more if a busy machine claims none for a while.
    expect(Math.abs(count('heavy') - 48)).toBeLessThanOrEqual(6);
    expect(Math.abs(count('heavy.heavy') - 36)).toBeLessThanOrEqual(4);
    expect(Math.abs(count('light.heavy') - 12)).toBeLessThanOrEqual(4);
    expect(count('light.light')).toBeGreaterThanOrEqual(2);
  });
});

it('a queue of one key keeps every slot busy', async ({ start }) => {
  const slots = 8;
  /** Slots that are idle when a job begins, on average, apart from the first and last jobs: jobs of 30 ms, and the time to claim the next one. */
  const idle = async (): Promise<number> => {
    const { ingress, addWorker } = await start();
    let running = 0;
    const seen: number[] = [];
    await addWorker({
      slots,
      handler: async () => {
        running += 1;
        seen.push(running);
        await sleep(30);
        running -= 1;
        return jobDone;
      },
    });
    const jobs = Array.from({ length: 400 }, () => ingress.send({}));
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
    const steady = seen.slice(slots, -slots);
    return slots - steady.reduce((sum, each) => sum + each, 0) / steady.length;
  };
  expect(await least(idle, 4)).toBeLessThan(4);
});

/** The names of those that have so many turns. */
function turns(order: WeightedOrder<string>, count: number): string {
  return Array.from({ length: count }, () => {
    const [[name] = ['']] = order;
    order.countClaim(name);
    return name;
  }).join('');
}

it('each has as many turns as its weight, then goes behind the others', () => {
  const order = new WeightedOrder<string>();
  for (const [name, weight] of Object.entries({ a: 3, b: 1, c: 2 })) order.add(name, name, weight);
  expect(order.totalWeight).toBe(6);
  expect(turns(order, 13)).toBe('aaabccaaabcca');
  order.delete('a');
  expect(order.totalWeight).toBe(3);
  expect(turns(order, 6)).toBe('bccbcc');
});

it('a changed weight counts from the next turn on', () => {
  const order = new WeightedOrder<string>();
  order.add('a', 'a', 50);
  order.add('b', 'b', 1);
  order.setWeight('a', 2);
  expect(order.totalWeight).toBe(3);
  expect(turns(order, 7)).toBe('aabaaba');
});

/** Sends 100 jobs of one key before a worker that takes ten a second, and waits until it has taken some. */
async function flood({ ingress, addWorker }: Parties): Promise<TestIngress> {
  await addWorker({ slots: 1, handler: () => sleep(100, jobDone) });
  const jobs = Array.from({ length: 100 }, () => ingress.send({ sender: sender('loud') }));
  await until(() => jobs.filter(({ job }) => job.state === 'done').length >= 15);
  return ingress;
}

describe.concurrent('the expected wait', () => {
  it('of a full queue is told to the client, which is to come again then', async ({ start, expect }) => {
    const retryAfter = async (): Promise<number> => {
      const ingress = await flood(await start({ ingress: { queue: { maxQueued: 240, maxAgeMs: 60_000 } } }));
      const fill = Array.from({ length: 120 }, () => ingress.send({ sender: sender('loud') }));
      const { error } = await made(fill.at(-1)).finished;
      expect(error).toMatchObject({ code: 'overloaded', retryAfter: expect.any(Number) });
      return error?.retryAfter ?? 0;
    };
    // 120 jobs at ten a second, on a machine that may be slower.
    const seconds = await least(retryAfter, 26, 3);
    expect(seconds).toBeGreaterThanOrEqual(11);
    expect(seconds).toBeLessThanOrEqual(25);
  });

  it('ends a job at once that may not wait so long, not one whose turn is near', async ({ start, expect }) => {
    const ingress = await flood(await start());
    const patient = ingress.send({ sender: sender('loud'), maxWaitMs: 60_000 });
    const { job, finished } = ingress.send({ sender: sender('loud'), maxWaitMs: 5_000 });
    expect(job.isOver).toBe(true);
    const late = await finished;
    expect(late).toMatchObject({ state: 'failed', attempts: 0, error: { code: 'overloaded' } });
    expect(late.error?.retryAfter).toBeGreaterThanOrEqual(4);
    expect(patient.job.state).toBe('queued');
    const quiet = await ingress.send({ sender: sender('quiet'), maxWaitMs: 5_000 }).finished;
    expect(quiet.state).toBe('done');
  });
});

it('a burst before idle workers is not taken for a long queue', async ({ ingress, addWorker }) => {
  await addWorker({ slots: 4 });
  const burst = Array.from({ length: 100 }, () => ingress.send({ maxWaitMs: 20_000 }));
  const reports = await Promise.all(burst.map(({ finished }) => finished));
  expect(reports.filter(({ state }) => state !== 'done')).toEqual([]);
});
