import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { DispatchSettings } from '#shared/broker/dispatch/dispatcher.ts';
import { noUsage } from '#shared/core/usage.ts';
import { startParties, type TestIngress, type TestJob } from '../../../../helpers/broker/broker-parties.ts';
import { until } from '../../../../helpers/until.ts';

const jobMs = 100;

/** A queue of 100 jobs of one key before a worker that takes ten a second, and has taken some. */
async function startFlood(settings: Partial<DispatchSettings> = {}): Promise<TestIngress> {
  const { ingress, addWorker, close } = await startParties({ ingress: settings });
  onTestFinished(close);
  const handler = (): Promise<{ usage: typeof noUsage; finishReason: string }> =>
    sleep(jobMs, { usage: noUsage, finishReason: 'stop' });
  await addWorker({ slots: 1, handler });
  const flood = Array.from({ length: 100 }, () => ingress.send({ sender: sender('loud') }));
  onTestFinished(() => flood.forEach(({ cancel }) => cancel()));
  await until(() => served(flood) >= 15, 10_000);
  return ingress;
}

const sender = (name: string) => ({ owner: name, key: name });

function served(jobs: readonly TestJob[]): number {
  return jobs.filter(({ job }) => job.state === 'done').length;
}

it('a full queue asks the client to come again when it will have drained', async () => {
  const ingress = await startFlood({ queue: { maxQueued: 240, maxAgeMs: 60_000 } });
  const fill = Array.from({ length: 120 }, () => ingress.send({ sender: sender('loud') }));
  const { error } = await (fill.at(-1) ?? ingress.send({})).finished;
  for (const { cancel } of fill) cancel();
  expect(error?.code).toBe('overloaded');
  // 120 jobs at ten a second, on a machine that may be slower.
  expect(error?.retryAfter).toBeGreaterThanOrEqual(11);
  expect(error?.retryAfter).toBeLessThanOrEqual(25);
});

it('a job that would wait for longer than it may ends at once, and one of a key whose turn is near is served', async () => {
  const ingress = await startFlood();
  const patient = ingress.send({ sender: sender('loud'), maxWaitMs: 60_000 });
  const late = await ingress.send({ sender: sender('loud'), maxWaitMs: 2_000 }).finished;
  expect(late).toMatchObject({ state: 'failed', attempts: 0, error: { code: 'overloaded' } });
  expect(late.endedAt - late.queuedAt).toBeLessThan(500);
  expect(late.error?.retryAfter).toBeGreaterThanOrEqual(4);
  expect(patient.job.state).toBe('queued');
  patient.cancel();
  const quiet = await ingress.send({ sender: sender('quiet'), maxWaitMs: 2_000 }).finished;
  expect(quiet.state).toBe('done');
});

it('a burst before idle workers is not taken for a long queue', async () => {
  const { ingress, addWorker, close } = await startParties();
  onTestFinished(close);
  await addWorker({ slots: 4 });
  const burst = Array.from({ length: 100 }, () => ingress.send({ maxWaitMs: 5_000 }));
  const reports = await Promise.all(burst.map(({ finished }) => finished));
  expect(reports.filter(({ state }) => state !== 'done')).toEqual([]);
});
