import { expect, it } from 'vitest';
import { Suspects, type SuspectJob } from '#shared/broker/dispatch/deaths/suspects.ts';

const worker = {};

/** A job whose first worker died at 0, after it had the job for so long. */
function suspect(afterMs: number, claimedAt?: number): SuspectJob {
  const attempt = claimedAt === undefined ? undefined : { worker, claimedAt };
  return { state: attempt ? 'claimed' : 'queued', death: { at: 0, afterMs }, attempt };
}

it('a suspect is put beside another one when that has run for longer than its first worker lived with it', () => {
  const suspects = new Suspects();
  suspects.gave(worker, suspect(400, 100));
  const other = suspect(400);
  expect(suspects.mayTake(worker, other, 1_400)).toBe(false);
  expect(suspects.mayTake(worker, other, 1_600)).toBe(true);
  expect(suspects.mayTake({}, other, 200)).toBe(true);
});

it('a suspect waits for a worker of its own for five seconds at most', () => {
  const suspects = new Suspects();
  suspects.gave(worker, suspect(60_000, 100));
  const other = suspect(60_000);
  expect(suspects.mayTake(worker, other, 4_900)).toBe(false);
  expect(suspects.mayTake(worker, other, 5_100)).toBe(true);
});

it('a job that no worker died with is put beside any', () => {
  const suspects = new Suspects();
  suspects.gave(worker, suspect(60_000, 100));
  expect(suspects.mayTake(worker, { state: 'queued', death: undefined, attempt: undefined }, 200)).toBe(true);
});
