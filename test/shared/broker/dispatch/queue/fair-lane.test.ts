import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { noUsage } from '#shared/core/usage.ts';
import { startParties, type Parties, type TestIngress } from '../../../../helpers/broker/broker-parties.ts';
import { least } from '../../../../helpers/least.ts';
import { until } from '../../../../helpers/until.ts';

const jobMs = 100;

async function start(): Promise<Parties> {
  const parties = await startParties();
  onTestFinished(() => parties.close());
  return parties;
}

/** A worker with one slot, where every job takes as long. */
function addSlowWorker({ addWorker }: Parties, served: string[] = [], ms = jobMs) {
  return addWorker({
    slots: 1,
    handler: async ({ requestId }, reply) => {
      served.push(requestId);
      reply.write('x');
      await sleep(ms);
      return { usage: noUsage, finishReason: 'stop' };
    },
  });
}

const sender = (name: string) => ({ owner: name, key: name });

/** Sends a job of a key that sends little, and returns how many others were begun before it: they take as long as the machine wants. */
async function othersBefore({ send }: TestIngress, served: readonly string[]): Promise<number> {
  const requestId = `quiet ${served.length}`;
  const begun = served.length;
  expect((await send({ sender: sender('quiet'), requestId }).finished).state).toBe('done');
  return served.indexOf(requestId) - begun;
}

it('a key waits for one job, not for the 500 that another key has queued', async () => {
  const parties = await start();
  const { ingress } = parties;
  const served: string[] = [];
  await addSlowWorker(parties, served);
  const flood = Array.from({ length: 500 }, () => ingress.send({ sender: sender('loud') }));
  await until(() => flood.every(({ job }) => job.tickets.isAdmitted || job.state !== 'queued'));
  const before: number[] = [];
  for (let at = 0; at < 12; at += 1) before.push(await othersBefore(ingress, served));
  expect(flood.filter(({ job }) => job.state === 'queued').length).toBeGreaterThan(450);
  // The one that was given its ticket already.
  const sorted = before.toSorted((a, b) => a - b);
  expect(sorted[6]).toBeLessThanOrEqual(1);
  expect(sorted.at(-1)).toBeLessThan(5);
  for (const { cancel } of flood) cancel();
});

it('a key of another ingress waits for the few tickets ahead of its own', async () => {
  const parties = await start();
  const { ingress, addIngress } = parties;
  const other = await addIngress();
  const served: string[] = [];
  const { id } = await addSlowWorker(parties, served);
  await until(() => other.workers.get(id) !== undefined);
  const flood = Array.from({ length: 500 }, () => ingress.send({ sender: sender('loud') }));
  await until(() => flood.every(({ job }) => job.tickets.isAdmitted || job.state !== 'queued'));
  const before: number[] = [];
  for (let at = 0; at < 10; at += 1) before.push(await othersBefore(other, served));
  expect(Math.max(...before)).toBeLessThan(6);
  for (const { cancel } of flood) cancel();
});

it('owners take turns, and so do the keys of one owner', async () => {
  const parties = await start();
  const { ingress } = parties;
  const served: string[] = [];
  await addSlowWorker(parties, served);
  const first = ingress.send({ requestId: 'first' });
  await until(() => first.job.state !== 'queued');
  const send = (owner: string, key: string, count: number) =>
    Array.from({ length: count }, () => ingress.send({ sender: { owner, key }, requestId: `${owner}.${key}` }));
  const jobs = [...send('team', 'a', 8), ...send('team', 'b', 8), ...send('person', 'c', 8)];
  await Promise.all(jobs.map(({ finished }) => finished));
  const count = (name: string, upTo: number) => served.slice(1, upTo).filter((each) => each.startsWith(name)).length;
  expect(Math.abs(count('team', 13) - count('person', 13))).toBeLessThanOrEqual(3);
  expect(Math.abs(count('team.a', 13) - count('team.b', 13))).toBeLessThanOrEqual(3);
});

it('a weight of 3 has three turns for each one of a weight of 1, of owners and of the keys of one, and nobody starves', async () => {
  const parties = await start();
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
  const jobs = [
    ...send('light', 'light', 40),
    ...send('light', 'heavy', 40),
    ...send('heavy', 'light', 40),
    ...send('heavy', 'heavy', 40),
  ];
  await until(() => served.length > 64);
  for (const { cancel } of jobs) cancel();
  const turns = served.slice(1, 65);
  const count = (name: string) => turns.filter((each) => each.startsWith(name)).length;
  // The two jobs that have a ticket already are served out of turn.
  expect(Math.abs(count('heavy') - 48)).toBeLessThanOrEqual(3);
  expect(Math.abs(count('heavy.heavy') - 36)).toBeLessThanOrEqual(4);
  expect(Math.abs(count('light.heavy') - 12)).toBeLessThanOrEqual(4);
  expect(count('light.light')).toBeGreaterThanOrEqual(2);
});

it('a queue of one key keeps every slot busy', async () => {
  const slots = 8;
  /** Slots that are idle when a job begins, on average, apart from the first and last jobs: jobs of 10 ms, and the time to claim the next one. */
  const idle = async (): Promise<number> => {
    const { ingress, addWorker } = await start();
    let running = 0;
    const seen: number[] = [];
    await addWorker({
      slots,
      handler: async () => {
        running += 1;
        seen.push(running);
        await sleep(10);
        running -= 1;
        return { usage: noUsage, finishReason: 'stop' };
      },
    });
    const jobs = Array.from({ length: 800 }, () => ingress.send({}));
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
    const steady = seen.slice(slots, -slots);
    return slots - steady.reduce((sum, each) => sum + each, 0) / steady.length;
  };
  expect(await least(idle, 4)).toBeLessThan(4);
});
