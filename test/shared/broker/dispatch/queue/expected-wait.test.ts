import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { Parties, TestIngress } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { jobDone } from '../../../../helpers/broker/job-done.ts';
import { until } from '../../../../helpers/until.ts';

/** Sends 100 jobs of one key before a worker that takes ten a second, and waits until it has taken some. */
async function flood({ ingress, addWorker }: Parties): Promise<TestIngress> {
  await addWorker({ slots: 1, handler: () => sleep(100, jobDone) });
  const jobs = Array.from({ length: 100 }, () => ingress.send({ sender: sender('loud') }));
  await until(() => jobs.filter(({ job }) => job.state === 'done').length >= 15);
  return ingress;
}

const sender = (name: string) => ({ owner: name, key: name });

describe.concurrent('the expected wait', () => {
  it('of a full queue is told to the client, which is to come again then', async ({ start, expect }) => {
    const ingress = await flood(await start({ ingress: { queue: { maxQueued: 240, maxAgeMs: 60_000 } } }));
    const fill = Array.from({ length: 120 }, () => ingress.send({ sender: sender('loud') }));
    const { error } = await (fill.at(-1) ?? ingress.send({})).finished;
    expect(error?.code).toBe('overloaded');
    // 120 jobs at ten a second, on a machine that may be slower.
    expect(error?.retryAfter).toBeGreaterThanOrEqual(11);
    expect(error?.retryAfter).toBeLessThanOrEqual(25);
  });

  it('ends a job at once that may not wait so long, not one whose turn is near', async ({ start, expect }) => {
    const ingress = await flood(await start());
    const patient = ingress.send({ sender: sender('loud'), maxWaitMs: 60_000 });
    const late = await ingress.send({ sender: sender('loud'), maxWaitMs: 2_000 }).finished;
    expect(late).toMatchObject({ state: 'failed', attempts: 0, error: { code: 'overloaded' } });
    expect(late.endedAt - late.queuedAt).toBeLessThan(1_500);
    expect(late.error?.retryAfter).toBeGreaterThanOrEqual(4);
    expect(patient.job.state).toBe('queued');
    const quiet = await ingress.send({ sender: sender('quiet'), maxWaitMs: 2_000 }).finished;
    expect(quiet.state).toBe('done');
  });
});

it('a burst before idle workers is not taken for a long queue', async ({ start }) => {
  const { ingress, addWorker } = await start();
  await addWorker({ slots: 4 });
  const burst = Array.from({ length: 100 }, () => ingress.send({ maxWaitMs: 20_000 }));
  const reports = await Promise.all(burst.map(({ finished }) => finished));
  expect(reports.filter(({ state }) => state !== 'done')).toEqual([]);
});
