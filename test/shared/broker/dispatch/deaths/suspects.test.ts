import { expect, it } from 'vitest';
import { Suspects, type SuspectJob } from '#shared/broker/dispatch/deaths/suspects.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';

const worker = {};
const [dead, alsoDead] = [{ id: 'dead' }, { id: 'also dead' }] as LiveWorker[];

/** A job whose first worker died at 0, after it had the job for so long; another one was given it at `claimedAt`. */
function suspect(afterMs: number, claimedAt?: number, died = dead): SuspectJob {
  const attempt = claimedAt === undefined ? undefined : { worker, claimedAt };
  const state = attempt ? 'claimed' : 'queued';
  return { state, death: died && { worker: died, at: 0, afterMs }, attempt };
}

it('a quarantined job may share a worker with another one that has run longer than its first worker lived with it', () => {
  const suspects = new Suspects();
  suspects.gave(worker, suspect(50, -200), -200);
  const other = suspect(50);
  expect(suspects.mayTake(worker, other, 300)).toBe(false);
  expect(suspects.mayTake(worker, other, 400)).toBe(true);
  expect(suspects.mayTake({}, other, 200)).toBe(true);
});

it('a quarantined job waits for a worker of its own for half a second at most', () => {
  const suspects = new Suspects();
  suspects.gave(worker, suspect(60_000, 100), 100);
  const other = suspect(60_000);
  expect(suspects.mayTake(worker, other, 400)).toBe(false);
  expect(suspects.mayTake(worker, other, 600)).toBe(true);
});

it('a quarantined job may share a worker with one of another death, but not with one of its own', () => {
  const suspects = new Suspects();
  suspects.gave(worker, suspect(60_000, 100), 100);
  const another = suspect(60_000, 200, alsoDead);
  expect(suspects.mayTake(worker, another, 200)).toBe(true);
  suspects.gave(worker, another, 200);
  expect(suspects.mayTake(worker, suspect(60_000), 300)).toBe(false);
});

it('a job without a death may go to any worker', () => {
  const suspects = new Suspects();
  suspects.gave(worker, suspect(60_000, 100), 100);
  expect(suspects.mayTake(worker, { state: 'queued', death: undefined, attempt: undefined }, 200)).toBe(true);
});
