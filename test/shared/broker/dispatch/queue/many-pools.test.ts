import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { countFreeSlots } from '#shared/broker/dispatch/workers/live-pool.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { until } from '../../../../helpers/until.ts';

const pools = 30;

it('a job waits in a few of many full pools, spread over all, and takes a free slot elsewhere', async ({ start }) => {
  const { ingress, addWorker } = await start({ ingress: { overflowMs: 200 } });
  const options = Array.from({ length: pools }, (_, at) => ({ id: `w${at}`, kind: `kind-${at}`, slots: 1 }));
  await Promise.all(options.map(addWorker));
  const running = Array.from({ length: pools }, () => ingress.send({ steps: [{ hang: true }] }));
  await until(() => running.every(({ job }) => job.state !== 'queued'));
  // No pool is left that got a job twice.
  await until(() => [...ingress.workers.pools()].every((pool) => countFreeSlots(pool) === 0));
  // Equally good placements, as the registry gives them.
  const place = () => Array.from(ingress.workers.pools(), (pool) => ({ pool, model: 'demo', group: 0 }));
  const waiting = Array.from({ length: 12 }, () => ingress.send({ steps: [{ whoami: true }], place }));
  expect(waiting.map(({ job }) => job.tickets.placed.size)).toEqual(Array.from({ length: 12 }, () => 8));
  const used = new Set(waiting.flatMap(({ job }) => [...job.tickets.placed.keys()]));
  expect(used.size).toBe(pools);
  await until(() => waiting.every(({ job }) => job.tickets.placed.size === 16));
  await sleep(300);
  expect(Math.max(...waiting.map(({ job }) => job.tickets.placed.size))).toBe(16);

  const first = made(waiting[0]);
  // Only the first job overflows, into a pool in which it does not wait.
  for (const { cancel } of waiting.slice(1)) cancel();
  const elsewhere = running.find(({ job }) => {
    const pool = job.attempt?.worker.pool;
    return pool !== undefined && !first.job.tickets.placed.has(pool);
  });
  const expected = elsewhere?.job.attempt?.worker.announcement.worker;
  elsewhere?.cancel();
  expect(await first.finished).toMatchObject({ state: 'done', text: expected });
  for (const { cancel } of running) cancel();
});
