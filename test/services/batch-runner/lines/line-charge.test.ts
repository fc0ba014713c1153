import { expect, it } from 'vitest';
import { LineCharge } from '#services/batch-runner/lines/line-charge.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { LimitKeeper, Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Amount } from '#shared/accounts/limits/party-use.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { noUsage } from '#shared/core/usage.ts';
import type { FinishedRequest } from '#shared/serving/usage-record.ts';

const amount = { tokens: 100, cost: 100 };

/** Opens a keeper that grants everything, and records the end of its reservations. */
function open() {
  const ends: (Amount | 'released')[] = [];
  const reservation = (): Reservation => {
    let isOver = false;
    const end = (how: Amount | 'released'): void => {
      if (!isOver) ends.push(how);
      isOver = true;
    };
    return { commit: end, release: () => end('released') };
  };
  const limits: Pick<LimitKeeper, 'reserve'> = {
    reserve: () => Promise.resolve({ granted: true, uses: [], reservation: reservation() }),
  };
  const charge = new LineCharge(limits, () => ({ input: 1, output: 2 }));
  /** Serves one request of the line as `runJob` does. */
  const serve = async (): Promise<void> => {
    const verdict = await charge.limits.reserve([], amount);
    if (!verdict.granted) throw verdict.error;
    charge.record(finished(verdict.reservation));
    verdict.reservation.release();
  };
  return { charge, ends, serve };
}

function finished(reservation: Reservation): FinishedRequest {
  const placement = { model: 'm' };
  const worker = { id: 'w', announcement: { tier: 'gpu' } };
  const times = { queuedAt: 0, endedAt: 5, timeline: [] };
  const report = { state: 'done', attempts: 1, moves: [], ...times, attempt: { placement, worker } };
  return {
    origin: { requestId: 'r', identity: { id: 'k', name: 'k', kind: 'router' } as KeyIdentity, trace: undefined },
    format: 'f',
    operation: 'generate',
    asked: 'm',
    purpose: undefined,
    report: report as unknown as JobReport,
    usage: { ...noUsage, promptTokens: 3, completionTokens: 4 },
    reservation,
  };
}

it('the usage of a line counts against limits once the line has its result, all its requests together', async () => {
  const { charge, ends, serve } = open();
  await serve();
  await serve();
  expect(ends).toEqual([]);
  expect(charge.usage).toMatchObject({ promptTokens: 6, completionTokens: 8, cost: 22_000 });
  expect(charge.records).toHaveLength(2);
  charge.commit();
  charge.release();
  const each = { tokens: 7, cost: 11_000 };
  expect(ends).toEqual([each, each]);
});

it('the usage of a line does not count if the line is executed again', async () => {
  const { charge, ends, serve } = open();
  await serve();
  charge.release();
  expect(ends).toEqual(['released']);
});

it('the usage of a line releases the reservation of a request that did not begin', async () => {
  const { charge, ends } = open();
  await charge.limits.reserve([], amount);
  charge.commit();
  expect(ends).toEqual(['released']);
});
