import { describe } from 'vitest';
import { buildUsageRecord } from '#shared/serving/usage-record.ts';
import { usageRecordSchema } from '#shared/accounts/ledger/usage-record.ts';
import { noUsage } from '#shared/core/usage.ts';
import { JobAttempts } from '#shared/broker/dispatch/job-attempts.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../helpers/until.ts';
import type { RequestOrigin } from '#shared/serving/caller.ts';

/** The ledger's record of a job, read back. */
function recordOf(report: JobReport) {
  const origin = { requestId: 'r', identity: { id: 'k', name: 'k', kind: 'router' } } as unknown as RequestOrigin;
  const asked = { format: 'chat', operation: 'generate', asked: 'm', purpose: undefined } as const;
  const record = buildUsageRecord({ origin, ...asked, report, usage: noUsage, reservation: undefined }, 0);
  return usageRecordSchema.parse(JSON.parse(JSON.stringify(record)));
}

describe.concurrent('the attempts of a job', () => {
  it('have the times of each, in order, and the reason of each end', async ({ ingress, addWorker, expect }) => {
    for (const id of ['a', 'b']) await addWorker({ id });
    const fails = ['a', 'b'].map((only) => ({ only, waitMs: 30 }));
    const steps: Step[] = [...fails, { only: 'a', fail: 'upstream_failed' }, { write: 'x' }, { waitMs: 200 }];
    const report = await ingress.send({ steps: [...steps, { write: 'y' }] }).finished;
    expect(report.state).toBe('done');
    const { timeline = [], totalMs, attempts } = recordOf(report);
    const taken = timeline.filter(({ end }) => end !== 'refused');
    expect(taken).toHaveLength(attempts);
    const last = timeline.at(-1);
    expect(last).toMatchObject({ worker: 'b', end: 'done' });
    if (attempts === 2) expect(taken.at(-2)).toMatchObject({ worker: 'a', end: 'upstream_failed' });
    for (const { waitMs, givenMs, begunMs = givenMs, firstMs = begunMs, endMs } of timeline) {
      const times = [waitMs, givenMs, begunMs, firstMs, endMs];
      expect(times.toSorted((a, b) => a - b)).toEqual(times);
    }
    expect((last?.endMs ?? 0) - (last?.firstMs ?? 0)).toBeGreaterThanOrEqual(100);
    expect((last?.firstMs ?? 0) - (last?.givenMs ?? 0)).toBeGreaterThanOrEqual(25);
    expect(Math.abs((last?.endMs ?? 0) - totalMs)).toBeLessThan(50);
  });

  it('are the first seven and the last, if there are more', async ({ ingress, addWorker, expect }) => {
    await addWorker({ id: 'a' });
    const report = await ingress.send({}).finished;
    const attempts = new JobAttempts('j', 0);
    for (let count = 0; count < 20; count += 1) {
      attempts.begin(report.attempt as never);
      attempts.recordLoss(String(count) as never);
    }
    const { timeline } = attempts.report();
    expect(timeline.map(({ end }) => end)).toEqual(['0', '1', '2', '3', '4', '5', '6', '19']);
    const many = Array.from({ length: 30 }, (_, index) => ({ ...timeline[0], end: String(index) }));
    const { timeline: kept = [] } = recordOf({ ...report, timeline: many as never });
    expect(kept.map(({ end }) => end)).toEqual(['0', '1', '2', '3', '4', '5', '6', '29']);
  });

  it('are none if no worker has got it, and end with `cancelled` if the client leaves', async ({ parties, expect }) => {
    const { ingress, addWorker } = parties;
    const unserved = ingress.send({});
    unserved.cancel();
    expect(recordOf(await unserved.finished)).not.toHaveProperty('timeline');
    await addWorker({ id: 'a' });
    const left = ingress.send({ steps: [{ write: 'x' }, { hang: true }] });
    await until(() => left.job.state === 'streaming');
    left.cancel();
    // A worker that has just joined may refuse an offer before it claims the job.
    expect(recordOf(await left.finished).timeline?.at(-1)).toMatchObject({ worker: 'a', end: 'cancelled' });
  });
});
