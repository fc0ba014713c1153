import { expect, it } from 'vitest';
import { Quarantine, type QuarantinedJob } from '#shared/broker/dispatch/deaths/quarantine.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';

const worker = {};
const [dead, alsoDead] = [{ id: 'dead' }, { id: 'also dead' }] as LiveWorker[];

/** A job whose first worker died at 0, after it had the job for so long; another one was given it at `assignedAt`. */
function suspect(afterMs: number, assignedAt?: number, died = dead): QuarantinedJob {
  const attempt = assignedAt === undefined ? undefined : { worker, assignedAt };
  const state = attempt ? 'claimed' : 'queued';
  return { state, death: died && { worker: died, diedAt: 0, afterMs }, attempt };
}

it('a quarantined job may share a worker with another one that has run longer than its first worker lived with it', () => {
  const quarantine = new Quarantine();
  quarantine.recordAssigned(worker, suspect(50, -200), -200);
  const other = suspect(50);
  expect(quarantine.mayTake(worker, other, 300)).toBe(false);
  expect(quarantine.mayTake(worker, other, 400)).toBe(true);
  expect(quarantine.mayTake({}, other, 200)).toBe(true);
});

it('a quarantined job waits for a worker of its own for half a second at most', () => {
  const quarantine = new Quarantine();
  quarantine.recordAssigned(worker, suspect(60_000, 100), 100);
  const other = suspect(60_000);
  expect(quarantine.mayTake(worker, other, 400)).toBe(false);
  expect(quarantine.mayTake(worker, other, 600)).toBe(true);
});

it('a quarantined job may share a worker with one of another death, but not with one of its own', () => {
  const quarantine = new Quarantine();
  quarantine.recordAssigned(worker, suspect(60_000, 100), 100);
  const another = suspect(60_000, 200, alsoDead);
  expect(quarantine.mayTake(worker, another, 200)).toBe(true);
  quarantine.recordAssigned(worker, another, 200);
  expect(quarantine.mayTake(worker, suspect(60_000), 300)).toBe(false);
});

it('a job without a death may go to any worker', () => {
  const quarantine = new Quarantine();
  quarantine.recordAssigned(worker, suspect(60_000, 100), 100);
  expect(quarantine.mayTake(worker, { state: 'queued', death: undefined, attempt: undefined }, 200)).toBe(true);
});
